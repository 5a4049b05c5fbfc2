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

// History evaluates the alarm every minute of [from, until] and returns its changes, including the first state. The
// documentation leaves two points open: how far back CloudWatch looks, and how an operator treats missing data. It is
// an error if the changes depend on either.
func (a *Alarm) History(d *Data, from, until time.Time) ([]Change, error) {
	var first []Change
	for _, more := range farther {
		for _, zeroes := range []bool{false, true} {
			changes, err := a.history(d, from, until, reading{more, zeroes})
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

func (a *Alarm) history(d *Data, from, until time.Time, how reading) ([]Change, error) {
	var changes []Change
	var state State
	for at := from.Truncate(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		next, err := a.at(d, at, how)
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
func (a *Alarm) at(d *Data, at time.Time, how reading) (State, error) {
	windows := make([]expression, a.evaluation+how.more)
	for i := range windows {
		windows[i] = expression{ids: map[string]number{}, zeroes: how.zeroes}
	}
	for _, q := range a.queries {
		if err := a.fetch(d, q, at, windows); err != nil {
			return "", err
		}
	}
	var points []number
	for _, window := range windows {
		n, err := window.calculate(a.expression)
		if err != nil {
			return "", err
		}
		points = append(points, n)
	}
	return a.decide(points), nil
}

// fetch adds the data points of a metric to the windows before a time, the newest first.
func (a *Alarm) fetch(d *Data, q query, at time.Time, windows []expression) error {
	numbers, empty := make([]number, len(windows)), true
	for i := range windows {
		until := at.Add(-time.Duration(i) * a.period)
		value, ok, err := d.Statistic(q.metric, q.stat, until.Add(-a.period), until)
		if err != nil {
			return err
		}
		numbers[i] = number{value: value, present: ok}
		empty = empty && !ok
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
