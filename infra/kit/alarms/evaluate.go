package alarms

import (
	"fmt"
	"slices"
	"time"
)

// State is the state of an alarm.
type State string

// The states, as CloudWatch spells them.
const (
	OK      State = "OK"
	InAlarm State = "ALARM"
)

// Change is the state that an alarm took at a time.
type Change struct {
	At    time.Time
	State State
}

// farther lists how many data points CloudWatch may read beyond EvaluationPeriods when data is missing. The
// documentation's examples have two, but the number is not promised.
var farther = []int{0, 2, 5}

// reading is one way to read the points that the documentation leaves open.
type reading struct {
	more   int  // data points beyond EvaluationPeriods
	zeroes bool // see expression
}

// known are data points by their metric and the end of their period: all readings, and the windows of every minute, ask
// for the same ones.
type known map[window]number

type window struct {
	id    string // of the query
	until int64  // in Unix seconds
}

// source is where an alarm's data points come from.
type source struct {
	*Data
	known known
}

// point is the data point of the period that ends at a time.
func (s source) point(q query, period time.Duration, until time.Time) (number, error) {
	at := window{q.id, until.Unix()}
	if n, found := s.known[at]; found {
		return n, nil
	}
	value, ok, err := s.Statistic(q.metric, q.stat, until.Add(-period), until)
	if err != nil {
		return number{}, err
	}
	s.known[at] = number{value: value, present: ok}
	return s.known[at], nil
}

// History evaluates the alarm every minute of [from, until] and returns its changes, including the first state. The
// documentation leaves two points open: how far back CloudWatch looks, and how an operator treats missing data. It is
// an error if the changes depend on either.
func (a *Alarm) History(d *Data, from, until time.Time) ([]Change, error) {
	var first []Change
	seen := known{}
	for _, more := range farther {
		for _, zeroes := range []bool{false, true} {
			changes, err := a.history(source{d, seen}, from, until, reading{more, zeroes})
			if err != nil {
				return nil, fmt.Errorf("alarm %s: %w", a.Name, err)
			}
			if first == nil {
				first = changes
			}
			if fired(changes) != fired(first) {
				return nil, &Undecided{fmt.Sprintf("alarm %s depends on %s: %v or %v", a.Name, open(zeroes), first, changes)}
			}
		}
	}
	return first, nil
}

// Undecided is an alarm that goes off by one reading of the documentation and not by another.
type Undecided struct{ said string }

func (u *Undecided) Error() string { return u.said }

// open names the points that the documentation leaves open.
func open(zeroes bool) string {
	if zeroes {
		return "what an operator makes of missing data"
	}
	return "CloudWatch's evaluation range"
}

func fired(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.State == InAlarm })
}

func (a *Alarm) history(s source, from, until time.Time, how reading) ([]Change, error) {
	var changes []Change
	var state State
	for at := from.Truncate(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		next, err := a.at(s, at, how)
		if err != nil {
			return nil, err
		}
		if next != state {
			changes = append(changes, Change{at, next})
		}
		state = next
	}
	return changes, nil
}

// at evaluates the alarm once: newest data point first, over EvaluationPeriods and more.
func (a *Alarm) at(s source, at time.Time, how reading) (State, error) {
	windows := make([]expression, a.evaluation+how.more)
	for i := range windows {
		windows[i] = expression{ids: map[string]number{}, zeroes: how.zeroes}
	}
	for _, q := range a.queries {
		if err := a.fetch(s, q, at, windows); err != nil {
			return "", err
		}
	}
	f, err := formulaOf(a.expression)
	if err != nil {
		return "", err
	}
	var points []number
	for _, w := range windows {
		n, err := w.calculate(f)
		if err != nil {
			return "", err
		}
		points = append(points, n)
	}
	return a.decide(points), nil
}

// fetch adds the data points of a metric to the windows before a time, the newest first.
func (a *Alarm) fetch(s source, q query, at time.Time, windows []expression) error {
	numbers, empty := make([]number, len(windows)), true
	for i := range windows {
		until := at.Add(-time.Duration(i) * a.period)
		n, err := s.point(q, a.period, until)
		if err != nil {
			return err
		}
		numbers[i] = n
		empty = empty && !n.present
	}
	for i, n := range numbers {
		n.empty = empty
		windows[i].ids[q.id] = n
		windows[i].all = append(windows[i].all, n)
	}
	return nil
}

// comparisons of a data point with the threshold.
var comparisons = map[string]func(value, threshold float64) bool{
	"GreaterThanOrEqualToThreshold": func(value, threshold float64) bool { return value >= threshold },
	"GreaterThanThreshold":          func(value, threshold float64) bool { return value > threshold },
	"LessThanThreshold":             func(value, threshold float64) bool { return value < threshold },
}

// decide turns data points, the newest first, into a state ("Configuring how CloudWatch alarms treat missing data"). If
// there are enough real data points, the newest of them decide. Otherwise all real ones decide, and missing ones fill
// the rest: they breach or not, as the alarm says.
func (a *Alarm) decide(points []number) State {
	breaching, real := 0, 0
	for _, p := range points {
		if !p.present || real == a.evaluation {
			continue
		}
		real++
		if a.breaches(p.value, a.threshold) {
			breaching++
		}
	}
	if a.silence {
		breaching += a.evaluation - real
	}
	if breaching >= a.datapoints {
		return InAlarm
	}
	return OK
}
