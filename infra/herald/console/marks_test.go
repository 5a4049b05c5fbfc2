package console

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/herald/exit"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// A screen reader reads the list, and of the charts their titles alone.
func TestTraffic_listsEachMarkInWords(t *testing.T) {
	for _, measured := range []float64{0.25, math.NaN()} { // a deployment may be why nothing is measured
		web, browser, _ := open(t, &functions{measured: measured})
		page := body(t, get(t, browser, web.URL+"/traffic"),
			`<span class="hidden">deployment that did not succeed: </span><time datetime="`,
			"<bdi>update to 1.1.0: rolled back after 4m (&lt;img src=x onerror=alert(1)&gt;)</bdi>",
			`<span class="hidden">alarm: </span>`, "<bdi>DeathsAlarm</bdi>", `<span class="hidden">act of an operator: </span>`)
		if legend := strings.Contains(page, `class="dim legend"`); legend == math.IsNaN(measured) {
			t.Errorf("measured %f, a legend: %t", measured, legend)
		}
		icons, hidden := strings.Count(page, `<svg class="icon"`), strings.Count(page, `aria-hidden="true"><path`)
		if icons == 0 || icons != hidden {
			t.Errorf("%d of %d forms are hidden from those who hear the page", hidden, icons)
		}
	}
}

// The page has its curves, whatever it may not read.
func TestTraffic_saysWhichMarksAreMissing(t *testing.T) {
	denied := fmt.Errorf("%w: reading the stack's events (cloudformation:DescribeStackEvents)", exit.ErrDenied)
	for name, c := range map[string]struct {
		err     error
		reached time.Time
		says    string
	}{
		"no right":  {denied, time.Time{}, "Deployments are not marked: " + denied.Error()},
		"no answer": {errors.New("<b>throttled"), time.Time{}, "Deployments are not marked: &lt;b&gt;throttled"},
		"too many events": {
			nil, time.Date(2026, 1, 2, 14, 5, 0, 0, time.UTC), "Deployments before 2 Jan 14:05 UTC are not marked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &functions{measured: 1, reached: c.reached}
			web, browser, _ := open(t, f)
			f.err = c.err
			resp := get(t, browser, web.URL+"/traffic")
			says := strings.ReplaceAll(c.says, "'", "&#39;")
			if page := body(t, resp, says); resp.StatusCode != http.StatusOK || !strings.Contains(page, `class="chart"`) {
				t.Errorf("%s\n%s", resp.Status, page)
			}
		})
	}
}

func TestServer_ofDeployment_saysWhatBecameOfIt(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	s := &Server{Config: Config{Now: func() time.Time { return now }}}
	for _, c := range []struct {
		d    stack.Deployment
		kind kind
		text string
	}{
		{stack.Deployment{Act: "create", From: ago(9), Until: ago(4), Version: "1.0.0", State: stack.Complete},
			kindDeployed, "creation of 1.0.0: complete after 5m"},
		{stack.Deployment{Act: "update", From: ago(9), Until: ago(4), State: stack.Complete}, kindDeployed,
			"update: complete after 5m"},
		{stack.Deployment{Act: "update", Until: ago(4), State: stack.Complete}, kindDeployed, "update: complete"},
		{stack.Deployment{Act: "update", From: ago(4), Until: ago(4), State: stack.Complete}, kindDeployed,
			"update: complete"},
		{stack.Deployment{Act: "update", From: ago(9), Version: "1.1.0", State: stack.UnderWay}, kindOngoing,
			"update to 1.1.0: under way for 9m"},
		{stack.Deployment{Act: "update", From: ago(9), State: stack.RollingBack, Reason: "why"}, kindUndone,
			"update: rolling back for 9m (why)"},
		{stack.Deployment{Act: "update", From: ago(9), Until: ago(1), State: stack.RollbackFailed}, kindUndone,
			"update: rollback failed after 8m"},
		{stack.Deployment{Act: "delete", From: ago(9), Until: ago(1), State: stack.Failed}, kindUndone,
			"deletion: failed after 8m"},
	} {
		if got := s.ofDeployment(c.d); got.kind != c.kind || got.text != c.text {
			t.Errorf("%+v is a %s: %q, want a %s: %q", c.d, got.kind, got.text, c.kind, c.text)
		}
	}
}

// An hour has 60 steps in 538 pixels: 9 of them to a minute.
func TestChart_drawsEachKindOfMarkInItsRow(t *testing.T) {
	from := time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return from.Add(time.Duration(n) * time.Minute) }
	hour := stack.Window{From: from, Step: time.Minute, Steps: 60}
	for name, c := range map[string]struct {
		marks []mark
		tips  []string // one for each form
		spans []string // x and width
	}{
		"all at one moment": {
			[]mark{{at: minute(30), kind: kindAlarm, text: "A"}, {at: minute(30), kind: kindAct, text: "B"},
				{at: minute(30), until: minute(40), kind: kindDeployed, text: "C"}},
			[]string{"2 Jan 14:30:00 UTC A", "2 Jan 14:30:00 UTC B", "2 Jan 14:30:00 UTC C"}, []string{"321.0 89.7"},
		},
		"two of a kind share a form": {
			[]mark{{at: minute(30), kind: kindAlarm, text: "A"}, {at: minute(30), kind: kindAct, text: "B"},
				{at: minute(30), kind: kindAlarm, text: "C"}, {at: minute(31), kind: kindAlarm, text: "D"}},
			[]string{"2 Jan 14:30:00 UTC A\n2 Jan 14:30:00 UTC C", "2 Jan 14:30:00 UTC B", "2 Jan 14:31:00 UTC D"}, nil,
		},
		"one that began before stands at its end": {
			[]mark{{at: minute(-30), until: minute(10), kind: kindUndone, text: "A"}},
			[]string{"2 Jan 13:30:00 UTC A"}, []string{"52.0 89.7"},
		},
		"of one the end alone is known": {
			[]mark{{until: minute(10), kind: kindDeployed, text: "A"}}, []string{"2 Jan 14:10:00 UTC A"}, []string{"141.7 2.0"},
		},
		"one under way": {
			[]mark{{at: minute(30), kind: kindOngoing, text: "A"}}, []string{"2 Jan 14:30:00 UTC A"}, []string{"321.0 269.0"},
		},
		"one under way that began before": {
			[]mark{{at: minute(-30), kind: kindOngoing, text: "A"}}, []string{"2 Jan 13:30:00 UTC A"}, []string{"52.0 538.0"},
		},
		"others": {
			[]mark{{at: minute(-30), until: minute(-20), kind: kindDeployed}, {at: minute(70), kind: kindOngoing},
				{at: minute(-1), kind: kindAct}, {at: minute(61), kind: kindAlarm}}, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			drawn := chart{window: hour, tick: time.Hour, clock: "15:04", least: 1, marks: c.marks}.drawn()
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
	for _, k := range []kind{kindAlarm, kindAct, kindDeployed, kindOngoing, kindUndone} {
		f := forms[k]
		look := fmt.Sprint(f.path, f.hollow)
		if f.path == "" || slices.Contains(looks, look) {
			t.Errorf("%s looks like another kind: %q", k, look)
		}
		looks = append(looks, look)
	}
	rows := []int{forms[kindAct].row, forms[kindAlarm].row, forms[kindDeployed].row}
	if legend := 32; rows[0]-5 < legend || rows[1]-rows[0] < 9 || rows[2]-rows[1] < 9 {
		t.Errorf("rows %v, below the legend at %d", rows, legend)
	}
}
