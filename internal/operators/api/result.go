package api

// Result is the outcome of an act in a word.
type Result string

// The results that several acts share. A refused or failed one has a reason.
const (
	ResultRefused    Result = "refused"     // nothing was changed
	ResultFailed     Result = "failed"      // an internal error: ask again
	ResultNotStarted Result = "not_started" // time ran out before anything was done: ask again
)
