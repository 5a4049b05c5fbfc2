// Package job is an operator's act on many dead letters or rejected events, worked off page by page.
//
// It promises exact counts of dead letters: a page is stored before the work on it begins, so when a worker dies
// anywhere, the next one finishes the same page, and nothing is counted twice or forgotten. Rejected events have no
// list: the ones that a worker published before it died are missing from the count. It knows no AWS; package
// jobs of the operators does the work.
package job

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"time"
)

// Act is a job's act on the selected letters or events.
type Act string

// The acts.
const (
	Replay  Act = "replay"  // dead letters
	Purge   Act = "purge"   // dead letters
	Publish Act = "publish" // rejected events
	Discard Act = "discard" // rejected events
)

// Acts are all acts.
func Acts() []Act { return []Act{Replay, Purge, Publish, Discard} }

// Valid reports whether a is one of the acts.
func (a Act) Valid() bool { return slices.Contains(Acts(), a) }

// OnEvents reports whether the act is on rejected events, and not on dead letters.
func (a Act) OnEvents() bool { return a == Publish || a == Discard }

// onLetters reports whether the act is on dead letters. One that is not known may be on either.
func (a Act) onLetters() bool { return a.Valid() && !a.OnEvents() }

// State is how far a job has come.
type State string

// The states. Running ↔ stopped, by operators; running → done, by the worker.
const (
	Running State = "running"
	Stopped State = "stopped"
	Done    State = "done"
)

// Valid reports whether s is one of the states.
func (s State) Valid() bool { return s == Running || s == Stopped || s == Done }

// Job is one job. The tags name its attributes in the table Jobs.
type Job struct {
	ID        string    `dynamodbav:"job_id"`
	Act       Act       `dynamodbav:"act"`
	Selector  Selector  `dynamodbav:"selector"`
	Asked     time.Time `dynamodbav:"asked,omitempty"` // end of the selection as it was asked for
	Operator  string    `dynamodbav:"operator"`
	StartedAt time.Time `dynamodbav:"started_at"`
	RunsFrom  time.Time `dynamodbav:"runs_from"` // when it was started or resumed last
	Selected  int       `dynamodbav:"selected"`  // when it was started
	State     State     `dynamodbav:"state"`
	StoppedBy string    `dynamodbav:"stopped_by,omitempty"` // the operator who stopped or resumed it last
	Progress

	// Parts of the selection that this version does not know: a newer one has started the job. Without them it would
	// select more.
	Unknown []string `dynamodbav:"-"`
}

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID is the id of a token's job: a request that is repeated makes one job.
func ID(token string) string {
	sum := sha256.Sum256([]byte("job " + token))
	return "job_" + encoding.EncodeToString(sum[:16])
}
