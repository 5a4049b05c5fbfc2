package simulate

import (
	"strconv"
	"strings"
	"time"
)

// role is the part of a receiver in a scenario.
type role int

// The roles.
const (
	other    role = iota // must not be late because of the subjects
	subject              // the scenario is about it
	attacker             // loads the system for the subjects, and is not measured
)

// Figures are the results of a run. They are gathered under the model's lock.
type Figures struct {
	Created, Posts      int     // deliveries; POSTs to subjects
	WorstDay            float64 // share of others' first attempts late by more than a second, of the worst 24 hours
	OwnP99, RetriesP99  time.Duration
	Slow                bool // a subject's tenant was slow at some time
	Wrongly             int  // tenants of the others that are slow at the end
	Busy                Busy
	Pace                Pace
	Shares              Shares
	Overdue             int           // deliveries in Backlog at the end whose lives have been over for a minute
	InFlight, Backlog   int           // peaks: RetryQueue and SlowQueue, Backlog
	FirstOK, CaughtUp   time.Duration // since the end of the outage
	Left                int           // deliveries of before the end of the outage that have not ended
	Deaths, Lost, Twice int           // Twice: POSTs of deliveries that were answered 2xx before
	Requests            float64       // to AWS, per 1,000 deliveries
	Dollars             float64       // a million deliveries
	Bins                []bin         // others' first attempts, by quarter of an hour
	Samples             []Sample
}

// Sample is the state at the beginning of a minute.
type Sample struct {
	Backlog, Posts, Left int
}

// stats is gathered under the model's lock.
type stats struct {
	Figures

	created []delivered           // by number
	own     map[string]*histogram // lateness of first attempts of the subjects, by tenant
	retries histogram             // lateness of the others'
	runs    int                   // of release, or of the minutes in which it is dead
	known   bool                  // FirstOK is set
}

// delivered is a delivery so far.
type delivered struct {
	millis                 uint32 // of its creation, since the beginning
	role                   role
	attempted, acked, dead bool
}

func (d *delivered) at() time.Duration { return time.Duration(d.millis) * time.Millisecond }

type bin struct{ First, Late int }

func (b *bin) add(waited time.Duration) {
	b.First++
	if waited > late {
		b.Late++
	}
}

// late is too late for others' first attempts.
const late = time.Second

const binLength = 15 * time.Minute

// Busy are the figures of a swept attack.
type Busy struct {
	Seconds   float64       // of lateness: others' late first attempts by their rate
	SlowAfter time.Duration // until all attackers were slow; 0: not all became
	Fast      int           // attackers that did not
	Going     float64       // share of others' first attempts of the last third of the attack that were late
	Writes    float64       // charges a second, of the attack

	seconds []bin // others' first attempts by the second of their creation
}

// Pace has the deliveries that receivers with a limit get.
type Pace struct {
	Seconds     int           // POSTs in the busiest second, to one endpoint
	Least, Most float64       // POSTs a second in the mean of a minute in which deliveries wait, to one endpoint
	Overtaken   time.Duration // the most by which a first attempt was of an older delivery than one before it

	Sent, Published []int // by second, to all of them
	byHook          map[string]*pacedHook
}

// pacedHook is one endpoint.
type pacedHook struct {
	sent      []int         // by second
	newest    time.Duration // creation of the newest delivery sent so far
	published int
}

// Shares are what the honest tenants get beside attackers with limits.
type Shares struct {
	Paced     float64 // deliveries a second to the honest endpoint with a limit, while the other recovers
	Recovered int     // deliveries of the recovery that are sent by the time when all are, if it is alone

	paced int
}

// numberOf is the number of the delivery with this body.
func numberOf(body string) int {
	digits := body[strings.LastIndexByte(body, ':')+1 : len(body)-1]
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic("not a body of this simulation: " + body)
	}
	return n
}
