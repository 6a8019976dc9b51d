//go:build unix

package store

// unlocked is the file system of SQLite that locks nothing.
const unlocked = "unix-none"
