package cli

// Exit codes. The list stands in the help of every command.
const (
	exitOK      = 0 // done; an empty answer included
	exitFailed  = 1 // it could not be done, or what was checked is not whole
	exitMisused = 2 // the command line could not be used; nothing was opened
)

// exitCode is the one place where the outcome of a run becomes a number.
// begun tells whether a command had begun: an error before that is misuse.
func exitCode(err error, begun, failed bool) int {
	switch {
	case err != nil && !begun:
		return exitMisused
	case err != nil, failed:
		return exitFailed
	default:
		return exitOK
	}
}
