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
	OK               State = "OK"
	InAlarm          State = "ALARM"
	InsufficientData State = "INSUFFICIENT_DATA"
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
	state := InsufficientData
	for at := from.Truncate(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		next, err := a.at(d, at, state, more)
		if err != nil {
			return nil, err
		}
		if next != state || len(changes) == 0 {
			changes = append(changes, Change{at, next})
		}
		state = next
	}
	return changes, nil
}

// at evaluates the alarm once: newest data point first, over EvaluationPeriods and more.
func (a *Alarm) at(d *Data, at time.Time, state State, more int) (State, error) {
	var points []number
	for i := range a.evaluation + more {
		until := at.Add(-time.Duration(i) * a.period)
		n, err := a.point(d, until.Add(-a.period), until)
		if err != nil {
			return "", err
		}
		points = append(points, n)
	}
	return a.decide(points, state)
}

// point is the alarm's data point of one window.
func (a *Alarm) point(d *Data, from, until time.Time) (number, error) {
	ids := map[string]number{}
	var metrics []number
	for _, q := range a.queries {
		if q.expression != "" {
			continue
		}
		value, ok, err := d.statistic(q.metric, q.stat, from, until)
		if err != nil {
			return number{}, err
		}
		ids[q.id] = number{value, ok}
		metrics = append(metrics, ids[q.id])
	}
	result, err := a.expressions(ids, metrics)
	return result, err
}

// expressions evaluates the expressions in an order in which each finds those it names, and returns
// the query that returns data.
func (a *Alarm) expressions(ids map[string]number, metrics []number) (number, error) {
	var last error
	for range a.queries {
		last = nil
		for _, q := range a.queries {
			if _, done := ids[q.id]; done || q.expression == "" {
				continue
			}
			n, err := calculate(q.expression, ids, metrics)
			if err != nil {
				last = err
				continue
			}
			ids[q.id] = n
		}
	}
	for _, q := range a.queries {
		if q.returned && last == nil {
			return ids[q.id], nil
		}
	}
	return number{}, last
}

// breaches compares a data point with the threshold.
func (a *Alarm) breaches(v float64) (bool, error) {
	switch a.comparison {
	case "GreaterThanOrEqualToThreshold":
		return v >= a.threshold, nil
	case "GreaterThanThreshold":
		return v > a.threshold, nil
	case "LessThanOrEqualToThreshold":
		return v <= a.threshold, nil
	case "LessThanThreshold":
		return v < a.threshold, nil
	default:
		return false, fmt.Errorf("ComparisonOperator %q", a.comparison)
	}
}

// treatment is TreatMissingData, but for what AWS says of its own tables' metrics: alarms on them
// ignore missing data whatever they are told.
func (a *Alarm) treatment() string {
	for _, m := range a.Metrics() {
		if m.Namespace == "AWS/DynamoDB" {
			return "ignore"
		}
	}
	return a.missing
}
