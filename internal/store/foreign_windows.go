package store

// unlocked is the file system of SQLite that locks nothing.
const unlocked = "win32-none"
