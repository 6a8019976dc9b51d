package wire

// An Edit is what Terminus does to one file of an agent: adding what is ours, and
// taking it out again. Both work on the bytes that are there at the moment, are
// called once more where the file changes meanwhile, and give the same bytes back where
// there is nothing to do. An error leaves the file as it is.
type Edit struct {
	// Name is what is put in, in a word.
	Name string
	// Path is the file. A link is followed.
	Path string
	// Add puts ours in. text is nil where there is no file.
	Add func(text []byte) (Outcome, error)
	// Remove takes ours out of what Add made of before, and of what became of it since.
	Remove func(text []byte, before Before) (Outcome, error)
}

// A Before is what a file was before the first edit, as far as that is known.
type Before struct {
	// Known tells whether it is.
	Known bool
	// Text is what it held; nil where there was no file.
	Text []byte
}

// An Outcome is what an edit makes of a file.
type Outcome struct {
	// Text is what the file is to hold; nil is no file.
	Text []byte
	// Held tells whether anything of ours stood in the file.
	Held bool
	// Changed names what was put in, brought up to date or taken out.
	Changed []string
	// Orphans are what was left alone although it runs this install's program.
	Orphans []Orphan
	// Remarks are sentences about what was left alone.
	Remarks []string
}

// An Orphan is an entry that runs a program of this install with arguments that are not
// ours.
type Orphan struct {
	// Key is the path of the entry in its file, as .hooks.Stop[0].hooks[1].
	Key string
	// Program is what it runs.
	Program string
}
