package search

import "fmt"

// Reasons are the sentences that say why an answer is empty. They are prose
// for people; only NoWords and NoTurn are fixed by the contract. None of them
// names anything of an excluded project: they repeat what was asked.

// NoWords is the reason of a query in which nothing can be searched.
const NoWords = "the query has no words that can be searched"

// OlderStore is what to say of a Reader that is Older.
const OlderStore = "this store was indexed by another version of terminus: the next ingest brings it up to date"

const (
	nothingArchived  = "nothing is archived yet: run terminus ingest"
	allExcluded      = "the configuration excludes every directory"
	noWorkDir        = "the working directory cannot be read: name a project"
	patternUncovered = "no archived project contains %s"
	patternExcluded  = "the configuration excludes the project of %s"
)

// NoStore is the reason of a request that finds no store at path.
func NoStore(path string) string { return fmt.Sprintf("no store at %s yet: run terminus ingest", path) }

// NoTurn is the reason of a turn that does not exist, or that this request may
// not see.
func NoTurn(id int64) string { return fmt.Sprintf("no turn %d is archived", id) }

// NoSession is the reason of a session that does not exist, or that this
// request may not see.
func NoSession(name string) string { return fmt.Sprintf("no session %s is archived", name) }
