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

// farther is how many data points beyond EvaluationPeriods CloudWatch asks for when data is
// missing. The documentation's examples have two; the number is not promised.
var farther = []int{0, 2, 5}

// History evaluates the alarm every minute of [from, until] and returns its changes, the state it
// starts with included. It is an error if they depended on how far back CloudWatch looks.
func (a *Alarm) History(d *Data, from, until time.Time) ([]Change, error) {
	var first []Change
	for i, more := range farther {
		changes, err := a.history(d, from, until, more)
		if err != nil {
			return nil, fmt.Errorf("alarm %s: %w", a.Name, err)
		}
		if i == 0 {
			first = changes
		} else if fired(changes) != fired(first) {
			return nil, fmt.Errorf("alarm %s depends on CloudWatch's evaluation range: %v or %v", a.Name, first, changes)
		}
	}
	return first, nil
}

func fired(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.State == InAlarm })
}

func (a *Alarm) history(d *Data, from, until time.Time, more int) ([]Change, error) {
	var changes []Change
	var state State
	for at := from.Truncate(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		next, err := a.at(d, at, more)
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
func (a *Alarm) at(d *Data, at time.Time, more int) (State, error) {
	var points []number
	for i := range a.evaluation + more {
		until := at.Add(-time.Duration(i) * a.period)
		n, err := a.point(d, until.Add(-a.period), until)
		if err != nil {
			return "", err
		}
		points = append(points, n)
	}
	return a.decide(points), nil
}

// point is the alarm's data point of one window.
func (a *Alarm) point(d *Data, from, until time.Time) (number, error) {
	e := expression{ids: map[string]number{}}
	for _, q := range a.queries {
		value, ok, err := d.Statistic(q.metric, q.stat, from, until)
		if err != nil {
			return number{}, err
		}
		e.ids[q.id] = number{value, ok}
		e.all = append(e.all, e.ids[q.id])
	}
	return e.calculate(a.expression)
}

// comparisons of a data point with the threshold.
var comparisons = map[string]func(value, threshold float64) bool{
	"GreaterThanOrEqualToThreshold": func(value, threshold float64) bool { return value >= threshold },
	"GreaterThanThreshold":          func(value, threshold float64) bool { return value > threshold },
	"LessThanThreshold":             func(value, threshold float64) bool { return value < threshold },
}

// decide turns data points, the newest first, into a state ("Configuring how CloudWatch alarms
// treat missing data"): where enough real ones exist, the newest of them decide; else all real ones
// do, and missing ones do not breach.
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
	if breaching >= a.datapoints {
		return InAlarm
	}
	return OK
}
