// Package wire owns what install changes on a machine and uninstall takes back:
// the program at its stable path, edits of an agent's files, the daily timer, and the
// receipt of it all. What is put into an agent's files is the business of the packages
// below it.
//
// It promises that every decision is taken before the first write; that a file is
// replaced in one step, through its links, and only as long as it is what was
// edited; that what it was before is kept until uninstall; and that an
// install which ended anywhere is finished by the next and taken back by uninstall,
// because the receipt is written before each change. Installs and uninstalls of one
// configuration directory take turns.
package wire

import "slices"

// An Own says which commands are this install's.
type Own struct {
	// Binary is the program's stable path.
	Binary string
	// Recorded are the paths that earlier installs used, as their receipt tells.
	Recorded []string
}

// Has reports whether command is one of them.
func (o Own) Has(command string) bool {
	return command == o.Binary || slices.Contains(o.Recorded, command)
}
