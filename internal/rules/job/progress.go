package job

import (
	"maps"
	"slices"
	"time"
)

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
