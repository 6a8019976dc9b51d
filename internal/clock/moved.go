//go:build testclock

package clock

import (
	"os"
	"time"
)

// Now is the time in TERMINUS_TEST_NOW (RFC 3339), or that of the system.
func Now() time.Time {
	if at, err := time.Parse(time.RFC3339, os.Getenv("TERMINUS_TEST_NOW")); err == nil {
		return at
	}
	return time.Now()
}
