// Package wire owns what install changes on a machine and uninstall takes back:
// the program at its stable path, edits of an agent's files, the receipt, and the
// daily timer. What stands in an agent's files is the business of the packages
// below it.
package wire

import "slices"

// ReceiptName is the receipt's file in the configuration directory.
const ReceiptName = "install.json"

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
