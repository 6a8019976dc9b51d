package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/document"
)

// An envelope is the one JSON value that a run with --json writes.
type envelope struct {
	Command string  `json:"command"`
	Data    any     `json:"data"`
	OK      bool    `json:"ok"`
	Reason  *string `json:"reason"`
}

// dataCommands are the commands that answer with data: as text for people, or
// with --json as one document. The test of the envelope holds each of them to
// the contract.
var dataCommands = []func(*env) *cobra.Command{
	newSearch, newRead, newShow, newSessions, newLog, newStatus, newUsage, newVerify, newReindex, newCompact, newSnapshot, newDoctor,
	newExport, newImport, newVersion,
	newObservations, newStats, newReplay, newRetention, newSources,
}

// DataCommands names the commands that take --json, as they are typed.
func DataCommands() []string { return dataNames(newRoot(&env{})) }

// dataNames are those below a command.
func dataNames(above *cobra.Command) (names []string) {
	for _, c := range above.Commands() {
		if c.Flags().Lookup("json") != nil {
			names = append(names, commandName(c))
		}
		names = append(names, dataNames(c)...)
	}
	return names
}

// A dataCommand is the body of a data command.
type dataCommand struct {
	// empty is the data of an answer that holds nothing, with the arguments
	// echoed where the shape echoes them: the document of a store that is not
	// there and of every failure. why is the reason that the document gives.
	empty func(why string) any
	// run does the work. It has read no configuration and opened nothing.
	run func(ctx context.Context) (answer, error)
}

// An answer is what a data command found.
type answer struct {
	// data is the document's data; nil is the command's empty data.
	data any
	// reason says why an answer holds nothing, or is not whole.
	reason string
	// warnings are said on stderr in both modes.
	warnings []string
	// bad makes the verdict "failed" although the answer is whole: what was
	// checked is damaged.
	bad bool
	// collect, if not nil, makes the data in place of data: for what is printed
	// for people without ever being held as a whole.
	collect func() (any, error)
	// close, if not nil, ends what data, collect and text read from.
	close func() error
	// text prints the data for people. Its error is one of getting at the data;
	// a failure to write is the sink's.
	text func() error
}

// bind makes d the body of cmd and gives it the flag --json.
func (e *env) bind(cmd *cobra.Command, d dataCommand) *cobra.Command {
	cmd.Flags().BoolVar(&e.json, "json", false, "answer with one JSON document")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e.begun = true
		a, err := d.run(cmd.Context())
		if a.close != nil {
			defer a.close() // only reading: there is nothing to lose
		}
		for _, w := range a.warnings {
			e.warnf("%s", w)
		}
		if e.json {
			return e.writeDocument(commandName(cmd), d, a, err)
		}
		if err != nil {
			return err
		}
		e.failed = a.bad
		if a.text != nil {
			if err := a.text(); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// commandName is a command as it is typed, without the program's name.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// writeDocument writes the one document of a run. A failure is in it, and is
// not said on stderr as well.
func (e *env) writeDocument(command string, d dataCommand, a answer, failure error) error {
	if failure == nil && a.collect != nil {
		a.data, failure = a.collect()
	}
	doc := envelope{Command: command, OK: failure == nil && !a.bad, Data: a.data}
	if a.reason != "" {
		doc.Reason = &a.reason
	}
	if failure != nil {
		why := failure.Error()
		doc.Reason, doc.Data = &why, nil
	}
	if doc.Data == nil {
		why := ""
		if doc.Reason != nil {
			why = *doc.Reason
		}
		doc.Data = d.empty(why)
	}
	e.failed = !doc.OK
	line, err := document.Encode(doc)
	if err != nil {
		why := err.Error()
		line, err = document.Encode(envelope{Command: command, Data: d.empty(why), Reason: &why})
		e.failed = true
	}
	if err != nil {
		return err
	}
	_, _ = e.out.Write(append(line, '\n'))
	return nil
}
