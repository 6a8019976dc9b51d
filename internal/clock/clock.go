// Package clock tells surfaces the time: that of the system, in every build that is
// released. A binary built with the tag `testclock` takes it from TERMINUS_TEST_NOW, so that
// scripts can let hours pass; nothing else knows of that variable.
//
// It is for what is stored and compared. How long something takes is measured with the
// system's clock.
package clock
