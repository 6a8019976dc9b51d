package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/search"
)

// A wholeFlag takes a whole number of at least min. One that is larger than
// the machine's integers is as good as the largest of them: every limit is
// lowered to a maximum afterwards.
type wholeFlag struct {
	value *int
	min   int
}

func (f wholeFlag) String() string {
	if f.value == nil || *f.value == 0 {
		return ""
	}
	return strconv.Itoa(*f.value)
}

func (f wholeFlag) Set(s string) error {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return errors.New("not a whole number")
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		n = math.MaxInt
	}
	if n < f.min {
		return fmt.Errorf("must be at least %d", f.min)
	}
	*f.value = n
	return nil
}

func (wholeFlag) Type() string { return "n" }

// A timeFlag takes a day or an instant that exists in the calendar, and holds
// what parse makes of it.
type timeFlag struct {
	value *string
	parse func(string) (string, error)
}

func (f timeFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f timeFlag) Set(s string) (err error) {
	*f.value, err = f.parse(s)
	return err
}

func (timeFlag) Type() string { return "date" }

// A textFlag takes any text but the empty one.
type textFlag struct {
	value *string
	kind  string
}

func (f textFlag) String() string {
	if f.value == nil {
		return ""
	}
	return *f.value
}

func (f textFlag) Set(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	*f.value = s
	return nil
}

func (f textFlag) Type() string { return f.kind }

// A listFlag takes any text but the empty one, as often as it is given.
type listFlag struct {
	value *[]string
	kind  string
}

func (f listFlag) String() string {
	if f.value == nil {
		return ""
	}
	return strings.Join(*f.value, ", ")
}

func (f listFlag) Set(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	*f.value = append(*f.value, s)
	return nil
}

func (f listFlag) Type() string { return f.kind }

func projectFlag(fl *pflag.FlagSet, value *string) {
	fl.Var(textFlag{value, "path"}, "project", "look at the project holding this path, or * for every project (default: the working directory's)")
}

// A harnessesFlag takes the id of a harness that this build knows, as often as it is given.
type harnessesFlag struct{ listFlag }

func (f harnessesFlag) Set(id string) error {
	if _, ok := registry.ByID(id); !ok {
		return errors.New("no agent has that id: terminus sources names them")
	}
	return f.listFlag.Set(id)
}

func harnessFlag(fl *pflag.FlagSet, value *[]string) {
	fl.Var(harnessesFlag{listFlag{value, "id"}}, "harness", "only sessions of the agent of this id, such as claude (may be repeated: any of them)")
}

func sinceUntilFlags(fl *pflag.FlagSet, since, until *string) {
	fl.Var(timeFlag{since, search.Since}, "since", "from this date on (YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS.mmmZ)")
	fl.Var(timeFlag{until, search.Until}, "until", "up to and including this date")
}

// flagError says of a switch that was given a value what that can be; all other
// flags have words of their own for it.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	var syntax *strconv.NumError
	if errors.As(err, &invalid) && errors.As(err, &syntax) {
		return fmt.Errorf("invalid argument %q for %q flag: neither true nor false", invalid.GetValue(), "--"+invalid.GetFlag().Name)
	}
	return err
}

// noArgs refuses words behind the command.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected word %q", args[0])
	}
	return nil
}
