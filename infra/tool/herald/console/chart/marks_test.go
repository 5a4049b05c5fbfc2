package chart

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// An hour has 60 steps in 538 pixels: 9 of them to a minute.
func TestChart_drawsEachKindOfMarkInItsRow(t *testing.T) {
	from := time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return from.Add(time.Duration(n) * time.Minute) }
	hour := stack.Window{From: from, Step: time.Minute, Steps: 60}
	for name, c := range map[string]struct {
		marks []Mark
		tips  []string // one for each form
		spans []string // x and width
	}{
		"all at one moment": {
			[]Mark{{At: minute(30), Kind: Alarm, Text: "A"}, {At: minute(30), Kind: Act, Text: "B"},
				{At: minute(30), Until: minute(40), Kind: Deployed, Text: "C"}},
			[]string{"2 Jan 14:30:00 UTC A", "2 Jan 14:30:00 UTC B", "2 Jan 14:30:00 UTC C"}, []string{"321.0 89.7"},
		},
		"two of a kind share a form": {
			[]Mark{{At: minute(30), Kind: Alarm, Text: "A"}, {At: minute(30), Kind: Act, Text: "B"},
				{At: minute(30), Kind: Alarm, Text: "C"}, {At: minute(31), Kind: Alarm, Text: "D"}},
			[]string{"2 Jan 14:30:00 UTC A\n2 Jan 14:30:00 UTC C", "2 Jan 14:30:00 UTC B", "2 Jan 14:31:00 UTC D"}, nil,
		},
		"one that began before stands at its end": {
			[]Mark{{At: minute(-30), Until: minute(10), Kind: Undone, Text: "A"}},
			[]string{"2 Jan 13:30:00 UTC A"}, []string{"52.0 89.7"},
		},
		"of one the end alone is known": {
			[]Mark{{Until: minute(10), Kind: Deployed, Text: "A"}}, []string{"2 Jan 14:10:00 UTC A"}, []string{"141.7 2.0"},
		},
		"one under way": {
			[]Mark{{At: minute(30), Kind: Ongoing, Text: "A"}}, []string{"2 Jan 14:30:00 UTC A"}, []string{"321.0 269.0"},
		},
		"one under way that began before": {
			[]Mark{{At: minute(-30), Kind: Ongoing, Text: "A"}}, []string{"2 Jan 13:30:00 UTC A"}, []string{"52.0 538.0"},
		},
		"others": {
			[]Mark{{At: minute(-30), Until: minute(-20), Kind: Deployed}, {At: minute(70), Kind: Ongoing},
				{At: minute(-1), Kind: Act}, {At: minute(61), Kind: Alarm}}, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			drawn := string(Chart{Window: hour, Tick: time.Hour, Clock: "15:04", Least: 1, Marks: c.marks}.SVG())
			var tips, spans []string
			for _, found := range regexp.MustCompile(`<title>([^<]*)</title>`).FindAllStringSubmatch(drawn, -1) {
				tips = append(tips, found[1])
			}
			for _, found := range regexp.MustCompile(`<rect x="(\S+)" width="(\S+)"`).FindAllStringSubmatch(drawn, -1) {
				spans = append(spans, found[1]+" "+found[2])
			}
			if diff := cmp.Diff(c.tips, tips) + cmp.Diff(c.spans, spans); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The forms differ without their colours, and no two of different kinds are drawn over each other.
func TestForms_differAndStandInTheirRows(t *testing.T) {
	var looks []string
	for _, k := range []Kind{Alarm, Act, Deployed, Ongoing, Undone} {
		f := forms[k]
		look := fmt.Sprint(f.path, f.hollow)
		if f.path == "" || slices.Contains(looks, look) {
			t.Errorf("%s looks like another Kind: %q", k, look)
		}
		looks = append(looks, look)
	}
	rows := []int{forms[Act].row, forms[Alarm].row, forms[Deployed].row}
	if legend := 32; rows[0]-5 < legend || rows[1]-rows[0] < 9 || rows[2]-rows[1] < 9 {
		t.Errorf("rows %v, below the legend at %d", rows, legend)
	}
}
