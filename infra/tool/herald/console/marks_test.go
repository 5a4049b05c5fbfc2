package console

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/chart"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
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
		kind chart.Kind
		text string
	}{
		{stack.Deployment{Act: "create", From: ago(9), Until: ago(4), Version: "1.0.0", State: stack.Complete},
			chart.Deployed, "creation of 1.0.0: complete after 5m"},
		{stack.Deployment{Act: "update", From: ago(9), Until: ago(4), State: stack.Complete}, chart.Deployed,
			"update: complete after 5m"},
		{stack.Deployment{Act: "update", Until: ago(4), State: stack.Complete}, chart.Deployed, "update: complete"},
		{stack.Deployment{Act: "update", From: ago(4), Until: ago(4), State: stack.Complete}, chart.Deployed,
			"update: complete"},
		{stack.Deployment{Act: "update", From: ago(9), Version: "1.1.0", State: stack.UnderWay}, chart.Ongoing,
			"update to 1.1.0: under way for 9m"},
		{stack.Deployment{Act: "update", From: ago(9), State: stack.RollingBack, Reason: "why"}, chart.Undone,
			"update: rolling back for 9m (why)"},
		{stack.Deployment{Act: "update", From: ago(9), Until: ago(1), State: stack.RollbackFailed}, chart.Undone,
			"update: rollback failed after 8m"},
		{stack.Deployment{Act: "delete", From: ago(9), Until: ago(1), State: stack.Failed}, chart.Undone,
			"deletion: failed after 8m"},
	} {
		if got := s.ofDeployment(c.d); got.Kind != c.kind || got.Text != c.text {
			t.Errorf("%+v is a %s: %q, want a %s: %q", c.d, got.Kind, got.Text, c.kind, c.text)
		}
	}
}
