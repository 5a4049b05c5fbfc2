package alarms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// text resolves plain text, which is all that these tests use.
func text(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%v is not a text", v)
	}
	return s, nil
}

func simple(changes ...string) map[string]any {
	properties := map[string]any{
		"Namespace": "N", "MetricName": "M", "Statistic": "Sum", "Period": "60", "EvaluationPeriods": "3",
		"Threshold": "1", "ComparisonOperator": "GreaterThanOrEqualToThreshold", "TreatMissingData": "notBreaching",
		"Dimensions": []any{map[string]any{"Name": "service", "Value": "deliver"}},
	}
	for _, change := range changes {
		name, value, _ := strings.Cut(change, "=")
		properties[name] = value
	}
	return properties
}

func parse(t *testing.T, properties map[string]any) Alarm {
	t.Helper()
	a, err := Parse("Alarm", properties, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The rows repeat the documentation's two tables: one for missing data that does not breach, one for missing data that
// does. The newest data point is the last. X breaches, and - is missing. EvaluationPeriods is 3, and CloudWatch looks
// at five.
func TestAlarm_decide_treatsMissingDataAsDocumented(t *testing.T) {
	for _, row := range []struct {
		points, datapoints string
		want, breaching    State
	}{
		{"0 - X - X", "3", OK, OK},
		{"- - - - 0", "3", OK, OK},
		{"- - - - -", "3", OK, InAlarm},
		{"0 X X - X", "3", InAlarm, InAlarm},
		{"- - X - -", "3", OK, InAlarm},
		{"- - - - X", "3", OK, InAlarm},
		{"0 - X - X", "2", InAlarm, InAlarm},
		{"0 0 X 0 X", "2", InAlarm, InAlarm},
		{"0 - X - -", "2", OK, InAlarm},
		{"- - - - 0", "2", OK, InAlarm},
	} {
		var points []number
		for _, p := range strings.Fields(row.points) {
			points = append([]number{{value: float64(strings.Count(p, "X")), present: p != "-"}}, points...)
		}
		a := parse(t, simple("DatapointsToAlarm="+row.datapoints))
		if got := a.decide(points); got != row.want {
			t.Errorf("%s, %s of 3: %s, want %s", row.points, row.datapoints, got, row.want)
		}
		a = parse(t, simple("DatapointsToAlarm="+row.datapoints, "TreatMissingData=breaching"))
		if got := a.decide(points); got != row.breaching {
			t.Errorf("%s, %s of 3, missing data breaches: %s, want %s", row.points, row.datapoints, got, row.breaching)
		}
	}
}

func worth(e expression, text string) (number, error) {
	f, err := formulaOf(text)
	if err != nil {
		return number{}, err
	}
	return e.calculate(f)
}

func TestExpression(t *testing.T) {
	e := expression{
		ids: map[string]number{"a": present(6), "b": present(2), "zero": present(0), "gone": {}, "never": {empty: true}},
		all: []number{present(6), {}, present(2)},
	}
	for text, want := range map[string]string{
		"a":                                 "6",
		"a + b * 2":                         "10",
		"(a + b) * 2":                       "16",
		"a - b / 4":                         "5.5",
		"a / zero":                          "missing",
		"a + gone":                          "missing",
		"a / gone":                          "missing",
		"FILL(gone, 0) + a":                 "6",
		"FILL(a, 0)":                        "6",
		"FILL(never, 0)":                    "missing",
		"FILL(a + gone, 0)":                 "expression: FILL of other than a metric is not modelled",
		"SUM(METRICS())":                    "8",
		"SUM([gone, 0 * a])":                "0",
		"SUM([never, 0 * a])":               "0",
		"SUM([b, 0 * never])":               "2",
		"SUM([gone, never])":                "missing",
		"MAX([a, b, never])":                "6",
		"SUM([a, 1])":                       "expression: SUM: of a scalar is not modelled",
		"SUM(a)":                            "expression: SUM: of other than an array is not modelled",
		"MAX(METRICS())":                    "6",
		"IF(zero > 0, a / zero, 7)":         "7",
		"IF(a >= 6 AND b == 2, 100*b/a, 0)": "33.333333333333336",
		"IF(gone, 1, 0)":                    "missing",
		"IF(gone > 1, 1, 0)":                "missing",
		"METRICS()":                         "expression: METRICS of 0 arguments is not modelled",
		"RATE(a)":                           "expression: RATE of 1 arguments is not modelled",
		"c":                                 `expression: "c" is not an Id`,
		"a b":                               "expression: 1:3: expected 'EOF', found b",
		"a % b":                             "expression: the operator % is not modelled",
		"-a":                                "expression: holds something that is not modelled",
	} {
		got, err := worth(e, text)
		answer := "missing"
		switch {
		case err != nil:
			answer = strings.Replace(err.Error(), fmt.Sprintf("expression %q", text), "expression", 1)
		case got.present:
			answer = fmt.Sprint(got.value)
		}
		if answer != want {
			t.Errorf("%s is %s, want %s", text, answer, want)
		}
	}
}

// The documentation takes missing operands for 0, but a data point needs a time, which a scalar has not.
func TestExpression_whereOperatorsTakeMissingDataForZero(t *testing.T) {
	e := expression{ids: map[string]number{"a": present(6), "gone": {}, "never": {empty: true}}, zeroes: true}
	for text, want := range map[string]number{
		"a + gone":                      present(6),
		"gone - a":                      present(-6),
		"a / gone":                      {},
		"0 * gone":                      {},
		"gone + never":                  {},
		"gone == 0":                     present(1),
		"IF(gone > 1, 1, 0)":            present(0),
		"IF(FILL(never, 1) == 0, 1, 0)": present(1),
		"IF(gone, 1, 0)":                {},
	} {
		got, err := worth(e, text)
		if got.present != want.present || got.present && got.value != want.value || err != nil {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
}

const line = `{"_aws":{"Timestamp":1780315200000,"CloudWatchMetrics":[{"Namespace":"N","Dimensions":[["service"],[]],` +
	`"Metrics":[{"Name":"M","Unit":"Count"},{"Name":"Millis"}]}]},` +
	`"service":"deliver","outcome":"retry","M":[2],"Millis":[1,2.5],"X":9}`

func TestData_ReadEMF_readsWhatIsDeclared(t *testing.T) {
	var d Data
	output := "START of a log\n" + `{"level":"INFO","M":7}` + "\n" + line + "\n"
	if err := d.ReadEMF(strings.NewReader(output)); err != nil {
		t.Fatal(err)
	}
	want := []string{"N M {service=deliver}", "N M {}", "N Millis {service=deliver}", "N Millis {}"}
	var got []string
	for _, m := range d.Metrics() {
		got = append(got, m.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	m := NewMetric("N", "Millis", map[string]string{"service": "deliver"})
	for stat, want := range map[string]float64{
		"Sum": 3.5, "Average": 1.75, "SampleCount": 2, "Minimum": 1, "Maximum": 2.5, "p50": 1, "p51": 2.5, "p99": 2.5,
	} {
		if got, ok, err := d.Statistic(m, stat, noon, noon.Add(time.Minute)); got != want || !ok || err != nil {
			t.Errorf("%s is %v, %v, %v, want %v", stat, got, ok, err, want)
		}
	}
}

// A metric that CloudWatch would drop must not count as emitted.
func TestData_ReadEMF_refusesWhatCloudWatchDrops(t *testing.T) {
	for name, change := range map[string][2]string{
		"a metric that is not there":    {`"M":[2],`, ``},
		"a metric that is a text":       {`[2]`, `"2"`},
		"a metric without values":       {`[2]`, `[]`},
		"a hundred and one values":      {`[2]`, `[` + strings.Repeat("1,", 100) + `1]`},
		"a dimension that is not there": {`"service":"deliver",`, ``},
		"an empty dimension":            {`"service":"deliver"`, `"service":""`},
		"no namespace":                  {`"Namespace":"N"`, `"Namespace":""`},
		"no dimension set":              {`[["service"],[]]`, `[]`},
		"no timestamp":                  {`"Timestamp":1780315200000,`, ``},
	} {
		var d Data
		if err := d.ReadEMF(strings.NewReader(strings.Replace(line, change[0], change[1], 1))); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestAlarm_History_slidesByTheMinute(t *testing.T) {
	a := parse(t, simple("Period=300", "EvaluationPeriods=1", "Threshold=5"))
	var d Data
	m := NewMetric("N", "M", map[string]string{"service": "deliver"})
	d.Put(m, noon.Add(2*time.Minute), 3)
	d.Put(m, noon.Add(6*time.Minute+30*time.Second), 2)
	got, err := a.History(&d, noon, noon.Add(15*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{noon, OK}, {noon.Add(7 * time.Minute), InAlarm}, {noon.Add(8 * time.Minute), OK}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// No alarm may depend on how far back CloudWatch looks for data.
func TestAlarm_History_refusesWhatDependsOnTheEvaluationRange(t *testing.T) {
	for apart, depends := range map[int]bool{2: false, 4: true, 6: true, 9: false} {
		a := parse(t, simple("DatapointsToAlarm=2"))
		var d Data
		for _, minute := range []int{0, apart} {
			d.Put(NewMetric("N", "M", map[string]string{"service": "deliver"}), noon.Add(time.Duration(minute)*time.Minute), 1)
		}
		if got, err := a.History(&d, noon, noon.Add(15*time.Minute)); (err != nil) != depends {
			t.Errorf("two breaches %d minutes apart: %v, %v", apart, got, err)
		}
	}
}

// A metric that has no data point in the range has none after FILL either. Where it has one, FILL fills the rest.
func TestAlarm_History_fillsNoMetricThatWasNeverEmitted(t *testing.T) {
	for name, row := range map[string]struct {
		expression string
		emitted    bool
		want       State
		refused    bool
	}{
		"filled where it was emitted":            {"1 - FILL(m, 0)", true, InAlarm, false},
		"not filled where it was not":            {"1 - FILL(m, 0)", false, OK, false},
		"compared, which may take it for 0":      {"IF(FILL(m, 0) == 0, 1, 0)", false, OK, true},
		"zero wherever the other metric has one": {"1 - SUM([m, 0 * other])", false, InAlarm, false},
	} {
		a := parse(t, simple("EvaluationPeriods=5", "DatapointsToAlarm=1"))
		a.expression = row.expression
		a.queries = append(a.queries, query{"other", NewMetric("N", "Other", nil), "Sum"})
		var d Data
		for minute := range 60 {
			d.Put(a.queries[1].metric, noon.Add(time.Duration(minute)*time.Minute), 3)
		}
		if row.emitted {
			for _, minute := range []int{2, 6, 10, 14} { // one in every range
				d.Put(a.queries[0].metric, noon.Add(time.Duration(minute)*time.Minute), 1)
			}
		}
		changes, err := a.History(&d, noon.Add(10*time.Minute), noon.Add(15*time.Minute))
		if (err != nil) != row.refused || err == nil && fired(changes) != (row.want == InAlarm) {
			t.Errorf("%s: %v, %v", name, changes, err)
		}
	}
}

func TestParse_refusesWhatIsNotAnAlarm(t *testing.T) {
	query := func(id, expression string) map[string]any {
		return map[string]any{"Id": id, "Expression": expression}
	}
	both := simple()
	both["Metrics"] = []any{query("a", "1"), query("b", "2")}
	for name, properties := range map[string]map[string]any{
		"no period":                 simple("Period="),
		"a period of ten seconds":   simple("Period=10"),
		"more than a day":           simple("EvaluationPeriods=2000"),
		"four of three data points": simple("DatapointsToAlarm=4"),
		"no operator":               simple("ComparisonOperator="),
		"an anomaly band":           simple("ComparisonOperator=GreaterThanUpperThreshold"),
		"another treatment":         simple("TreatMissingData=maybe"),
		"data that stays":           simple("TreatMissingData=ignore"),
		"an unknown statistic":      simple("Statistic=tm99"),
		"two queries return data":   both,
	} {
		if _, err := Parse("Alarm", properties, text); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestWidgets_refusesWhatIsNoMetric(t *testing.T) {
	for _, body := range []string{
		`{`, `{"widgets":[{"properties":{"metrics":[["N","M"]]}}]}`, `{"widgets":[{"properties":{"metrics":[["...","x"]]}}]}`,
	} {
		if all, err := Widgets(body); err == nil {
			t.Errorf("%s is %v", body, all)
		}
	}
}
