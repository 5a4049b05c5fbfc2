package alarms

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Alarm is one AWS::CloudWatch::Alarm.
type Alarm struct {
	Name string

	queries    []query
	expression string // of their ids
	period     time.Duration
	evaluation int // EvaluationPeriods
	datapoints int // DatapointsToAlarm
	threshold  float64
	silence    bool // missing data breaches
	breaches   func(value, threshold float64) bool
}

// query is a metric with its statistic.
type query struct {
	id     string
	metric Metric
	stat   string
}

// object is a mapping of the template; its scalars are text or booleans, its intrinsic functions
// are in their long form.
type object = map[string]any

// definition reads the properties of one alarm and gathers their faults.
type definition struct {
	text func(v any) (string, error) // resolves a scalar or an intrinsic function
	err  error
}

// Parse reads the alarm of this logical id. text resolves scalars and intrinsic functions, so that names of resources
// are the data's.
func Parse(name string, properties map[string]any, text func(v any) (string, error)) (Alarm, error) {
	d := &definition{text: text}
	operator, treat := d.string(properties["ComparisonOperator"]), properties["TreatMissingData"]
	a := Alarm{
		Name:       name,
		evaluation: int(d.number(properties["EvaluationPeriods"])),
		threshold:  d.number(properties["Threshold"]),
		breaches:   comparisons[operator],
	}
	if a.breaches == nil {
		d.fail(fmt.Errorf("ComparisonOperator %q is not modelled", operator))
	}
	a.silence = treat == "breaching"
	if !a.silence && treat != "notBreaching" {
		d.fail(fmt.Errorf("TreatMissingData %v is not modelled", treat))
	}
	a.datapoints = a.evaluation
	if m, ok := properties["DatapointsToAlarm"]; ok {
		a.datapoints = int(d.number(m))
	}
	if metrics, ok := properties["Metrics"].([]any); ok {
		for _, m := range metrics {
			d.query(&a, m)
		}
	} else {
		a.expression = "m"
		stat := cmp.Or(properties["Statistic"], properties["ExtendedStatistic"])
		d.metric(&a, query{id: "m", stat: d.string(stat)}, properties, properties)
	}
	if err := errors.Join(d.err, a.check()); err != nil {
		return Alarm{}, fmt.Errorf("alarm %s: %w", name, err)
	}
	return a, nil
}

// query reads one element of Metrics.
func (d *definition) query(a *Alarm, element any) {
	o, _ := element.(object)
	expression, isExpression := o["Expression"]
	if returned := o["ReturnData"] != false; returned != isExpression || isExpression && a.expression != "" {
		d.fail(errors.New("data is returned by other than one expression"))
	}
	if isExpression {
		a.expression = d.string(expression)
		return
	}
	stat, _ := o["MetricStat"].(object)
	metric, _ := stat["Metric"].(object)
	d.metric(a, query{id: d.string(o["Id"]), stat: d.string(stat["Stat"])}, metric, stat)
}

// metric completes q with the metric of one mapping and the period of another.
func (d *definition) metric(a *Alarm, q query, metric, timed object) {
	dimensions := map[string]string{}
	list, _ := metric["Dimensions"].([]any)
	for _, element := range list {
		o, _ := element.(object)
		dimensions[d.string(o["Name"])] = d.string(o["Value"])
	}
	q.metric = NewMetric(d.string(metric["Namespace"]), d.string(metric["MetricName"]), dimensions)
	period := time.Duration(d.number(timed["Period"])) * time.Second
	if a.period != 0 && a.period != period {
		d.fail(fmt.Errorf("periods of %s and %s", a.period, period))
	}
	a.period = period
	a.queries = append(a.queries, q)
}

func (d *definition) string(v any) string {
	s, err := d.text(v)
	d.fail(err)
	return s
}

func (d *definition) number(v any) float64 {
	n, err := strconv.ParseFloat(d.string(v), 64)
	d.fail(err)
	return n
}

func (d *definition) fail(err error) { d.err = errors.Join(d.err, err) }

// maxEvaluated bounds the product of period and evaluation periods for periods below an hour.
const maxEvaluated = 24 * time.Hour

// check refuses alarms that CloudWatch would refuse, and ones that are not modelled.
func (a *Alarm) check() error {
	return errors.Join(a.checkQueries(), a.checkPeriods())
}

func (a *Alarm) checkQueries() error {
	for _, q := range a.queries {
		if _, err := aggregation(q.stat); err != nil {
			return err
		}
	}
	if a.expression == "" {
		return errors.New("no data is returned")
	}
	return nil
}

func (a *Alarm) checkPeriods() error {
	switch {
	case a.period < time.Minute || a.period%time.Minute != 0:
		return fmt.Errorf("a period of %s", a.period)
	case a.period < time.Hour && a.period*time.Duration(a.evaluation) > maxEvaluated:
		return fmt.Errorf("%d periods of %s", a.evaluation, a.period)
	case a.evaluation < 1 || a.datapoints < 1 || a.datapoints > a.evaluation:
		return fmt.Errorf("%d of %d data points", a.datapoints, a.evaluation)
	}
	return nil
}

// Metrics returns the metrics that the alarm reads.
func (a *Alarm) Metrics() []Metric {
	all := make([]Metric, len(a.queries))
	for n, q := range a.queries {
		all[n] = q.metric
	}
	return all
}
