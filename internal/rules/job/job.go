// Package job is an operator's act on many dead letters or rejected events, worked off page by page.
//
// It promises exact counts of dead letters: a page is stored before the work on it begins, so when a worker dies
// anywhere, the next one finishes the same page, and nothing is counted twice or forgotten. Rejected events have no
// list: the ones that a worker published before it died are missing from the count. It knows no AWS; package
// jobs of the operators does the work.
package job

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"maps"
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

// Selector selects dead letters or, without endpoint and status, rejected events, for a job or a list. Operators give
// and see it as it is. Zero fields select all. Dead letters need one of endpoint, tenant and status, since that is how
// they are found.
type Selector struct {
	TenantID   string    `json:"tenant_id" dynamodbav:"tenant_id,omitempty"`
	EndpointID string    `json:"endpoint_id" dynamodbav:"endpoint_id,omitempty"`
	EventID    string    `json:"event_id,omitzero" dynamodbav:"event_id,omitempty"`
	Reason     string    `json:"reason" dynamodbav:"reason,omitempty"` // of the latest death; a part of an event's
	Status     string    `json:"status" dynamodbav:"status,omitempty"` // deadletter.Status
	Since      time.Time `json:"since" dynamodbav:"since,omitempty"`   // died, in ms; inclusive; of an event: sent
	Until      time.Time `json:"until" dynamodbav:"until,omitempty"`   // likewise; exclusive

	// Published is when the event of a dead letter was sent to EventsQueue (its created_at), in ms. The end is exclusive.
	// Rejected events have no such time.
	PublishedSince time.Time `json:"published_since,omitzero" dynamodbav:"published_since,omitempty"`
	PublishedUntil time.Time `json:"published_until,omitzero" dynamodbav:"published_until,omitempty"`
}

// Published reports whether a moment is in the times of publishing that s selects.
func (s Selector) Published(at time.Time) bool {
	return !at.Before(s.PublishedSince) && (s.PublishedUntil.IsZero() || at.Before(s.PublishedUntil))
}

// Narrowed reports whether s selects by what no index of dead letters has in its key, and what may be rare among them.
func (s Selector) Narrowed() bool {
	return s.EventID != "" || !s.PublishedSince.IsZero() || !s.PublishedUntil.IsZero()
}

// Progress is how far a job has come.
type Progress struct {
	Done    int            `dynamodbav:"done"`
	Refused map[string]int `dynamodbav:"refused,omitempty"` // by reason
	Failed  map[string]int `dynamodbav:"failed,omitempty"`  // by reason, given up after MaxTries

	Pages     int       `dynamodbav:"pages"`             // that were stored
	Pending   []string  `dynamodbav:"pending,omitempty"` // ids that were taken up and have no result
	Tries     int       `dynamodbav:"tries,omitempty"`   // of the pending ids
	Cursor    string    `dynamodbav:"cursor,omitempty"`  // behind the ids taken up
	Listed    bool      `dynamodbav:"listed,omitempty"`  // nothing is left behind the cursor
	UpdatedAt time.Time `dynamodbav:"updated_at"`

	// Since when a job on rejected events goes on behind the ones that it has passed. They are hidden from it.
	HiddenSince time.Time `dynamodbav:"hidden_since,omitempty"`

	// Until when a pass that broke off may have hidden rejected events. Before that, an empty queue is not the end.
	HiddenUntil time.Time `dynamodbav:"hidden_until,omitempty"`
}

// MaxTries is how often a job tries a page with replays that fail, or with dead letters that another replay has
// claimed. Tries are a minute apart, which is longer than a claim lasts: a claim that a crash left behind is free by
// the next try.
const MaxTries = 5

// Kind is a kind of result.
type Kind int

// The kinds of results. An id that the job has not begun has no result.
const (
	Succeeded Kind = iota
	Refused
	Again // an internal error, or another replay: to be tried again
)

// Result is the outcome of one id.
type Result struct {
	ID     string
	Kind   Kind
	Reason string
}

// Failure is an id that was refused or given up, and why.
type Failure struct {
	ID      string `dynamodbav:"id"`
	Refused bool   `dynamodbav:"refused,omitempty"`
	Reason  string `dynamodbav:"reason"`
}

// Page has the outcomes of a job's ids: successes, and the others.
type Page struct {
	Number   int       `dynamodbav:"number"`
	Done     []string  `dynamodbav:"done,omitempty"`
	Failures []Failure `dynamodbav:"failures,omitempty"`
}

// Empty reports whether the page has no id.
func (p Page) Empty() bool { return len(p.Done)+len(p.Failures) == 0 }

// Begin takes up ids, behind which the list goes on at cursor; "" is its end.
func (p Progress) Begin(ids []string, cursor string) Progress {
	p.Pending = ids
	p.Tries = 0
	p.Cursor = cursor
	p.Listed = cursor == ""
	return p
}

// Tally counts results of the pending ids, which come as a page. Ids without a result stay pending, and so do ids to
// try again, until their tries are used up.
func (p Progress) Tally(results []Result) (Progress, Page) {
	page := Page{Number: p.Pages + 1}
	p.Refused, p.Failed = maps.Collect(maps.All(p.Refused)), maps.Collect(maps.All(p.Failed)) // copies, never nil
	open := slices.Clone(p.Pending)
	last, again := p.Tries+1 >= MaxTries, false
	for _, r := range results {
		n := slices.Index(open, r.ID)
		if n < 0 {
			continue
		}
		switch {
		case r.Kind == Succeeded:
			p.Done++
			page.Done = append(page.Done, r.ID)
		case r.Kind == Refused:
			p.Refused[r.Reason]++
			page.Failures = append(page.Failures, Failure{r.ID, true, r.Reason})
		case last:
			p.Failed[r.Reason]++
			page.Failures = append(page.Failures, Failure{r.ID, false, r.Reason})
		default:
			again = true
			continue
		}
		open = slices.Delete(open, n, n+1)
	}
	p.Pending = open
	if again {
		p.Tries++
	}
	if !page.Empty() {
		p.Pages++
	}
	return p, page
}

// Finished reports whether nothing is left to do.
func (p Progress) Finished() bool { return p.Listed && len(p.Pending) == 0 }

// Total is the sum of the counts of reasons.
func Total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID is the id of a token's job: a request that is repeated makes one job.
func ID(token string) string {
	sum := sha256.Sum256([]byte("job " + token))
	return "job_" + encoding.EncodeToString(sum[:16])
}

// MaxFailures is how many refused events are listed with their reasons.
const MaxFailures = 100

// HideFor is how long the rejected events that a job has passed stay hidden. Until then, its next invocations go on
// behind them. An invocation passes at least 10,000 events, one begins each minute, and SQS hides at most 120,000
// messages of a queue. So a job reaches the end of every queue before the first events show again.
const HideFor = 15 * time.Minute

// LooksOver is how long after its start, or after it was resumed, a job on rejected events cannot end. Other requests
// that receive rejected events hide them, and are refused from then on. They hide no event for longer than they may
// last, a minute at most. So by then, all that were under way are over, and nothing of them is hidden.
const LooksOver = 75 * time.Second

// Undisturbed reports whether no other request can have hidden an event from a pass that began then. The job is as it
// is stored when the pass is over. If it was stopped since, requests were not refused, even if it was resumed.
func (j Job) Undisturbed(begun time.Time) bool {
	return j.State == Running && begun.Sub(j.RunsFrom) >= LooksOver
}

// WaitsFor reports whether a job on rejected events must wait for another, which was started before it or has passed
// events that are still hidden. A job that was done in one go has hidden nothing. A job with an act of a newer version
// may have hidden events before a rollback, and is not worked off by this one.
func (j Job) WaitsFor(other Job, now time.Time) bool {
	if !j.Act.OnEvents() || other.Act.onLetters() || j.ID == other.ID {
		return false
	}
	order := cmp.Or(other.StartedAt.Compare(j.StartedAt), cmp.Compare(other.ID, j.ID))
	first := other.Act.OnEvents() && other.State == Running && order == -1
	hides := !other.HiddenSince.IsZero() && (other.Pages > 1 || other.Pages == 1 && other.State != Done)
	return first || hides && now.Sub(other.UpdatedAt) < HideFor || other.MayHide(now)
}

// MayHide reports whether events may be hidden that a pass had received before it broke off.
func (p Progress) MayHide(now time.Time) bool { return now.Before(p.HiddenUntil) }

// Passing is a job that begins a pass through rejected events, which ends at some time. It is stored before the pass:
// if the pass breaks off, the events that it has received stay hidden, and nothing else tells of them.
func (p Progress) Passing(end time.Time) Progress {
	p.HiddenUntil = end.Add(HideFor)
	return p
}

// BeginsAnew reports whether a run that begins then starts at the head of the queue.
func (p Progress) BeginsAnew(begun time.Time) bool {
	return begun.Sub(p.HiddenSince) >= HideFor-time.Minute
}

// Swept is the result of a run through rejected events.
type Swept struct {
	Begun    time.Time
	Done     int
	Refused  []Failure // they stay, because they would be rejected again
	Anew     bool      // all that it has passed are back, and the next run begins anew
	Complete bool      // nothing is left to do
}

// Sweep counts a run through rejected events. It goes on behind the last one while the events of the first are hidden.
// A minute before they show again, the job begins anew at the head of the queue. It meets the refused events again
// there, so their earlier counts are dropped.
func (p Progress) Sweep(s Swept) (Progress, Page) {
	p.Refused = maps.Collect(maps.All(p.Refused)) // a copy, never nil
	if p.BeginsAnew(s.Begun) {
		p.HiddenSince = s.Begun
		p.Pages = 0
		p.Refused = map[string]int{}
	}
	if s.Anew {
		p.HiddenSince = time.Time{}
	}
	listed := max(0, MaxFailures-p.Refused[ReasonInvalidEvent])
	p.Done += s.Done
	p.Pages++
	p.Listed = s.Complete
	if len(s.Refused) > 0 {
		p.Refused[ReasonInvalidEvent] += len(s.Refused)
	}
	return p, Page{Number: p.Pages, Failures: s.Refused[:min(len(s.Refused), listed)]}
}

// ReasonInvalidEvent counts events that this version would reject again.
const ReasonInvalidEvent = "invalid_event"
