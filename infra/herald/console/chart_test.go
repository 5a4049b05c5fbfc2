package console

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/internal/plot"
)

var none = math.NaN()

func TestChart_hasClockTimesUnitsMarksAndReadings(t *testing.T) {
	from := time.Date(2026, 1, 2, 14, 3, 0, 0, time.UTC)
	values := make([]float64, 60)
	for n := range values {
		values[n] = none
	}
	values[10], values[11], values[59] = 1200, 400, 12
	c := chart{
		title: "a < b", unit: "in 1m", window: stack.Window{From: from, Step: time.Minute, Steps: 60},
		tick: 10 * time.Minute, clock: "15:04", least: 1, lines: []plot.Line{{Label: "all", Values: values}},
		marks: []mark{
			{at: from.Add(30 * time.Minute), kind: kindAlarm, text: "<Deaths>"},
			{at: from.Add(-time.Hour), kind: kindAlarm, text: "before"},
		},
	}
	drawn := c.drawn()
	for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, drawn)
		}
	}
	for _, text := range []string{
		">14:10<", ">15:00<", ">in 1m<", ">2,000<", "a &lt; b", "14:33:00 UTC &lt;Deaths&gt;",
		">2 Jan 14:14  all 1,200<", ">2 Jan 15:03  all 12<",
	} {
		if !strings.Contains(drawn, text) {
			t.Errorf("no %q in\n%s", text, drawn)
		}
	}
	if strings.Contains(drawn, "%!") || strings.Contains(drawn, "before") || strings.Count(drawn, `class="step"`) != 3 {
		t.Errorf("a mark from before, or strips without a reading:\n%s", drawn)
	}
	// Few values are dots, the newest at the right edge.
	var last float64
	for _, dot := range regexp.MustCompile(`<circle cx="([0-9.]+)"`).FindAllStringSubmatch(drawn, -1) {
		at, err := strconv.ParseFloat(dot[1], 64)
		if err != nil || at <= last {
			t.Errorf("a dot at %s after %f", dot[1], last)
		}
		last = at
	}
	if last != chartWidth-plotRight {
		t.Errorf("the newest value is at %f", last)
	}
}

// A percentile of a few attempts is one of these attempts: the steps are wider where there are few.
func TestWidened_hasEnoughAttemptsInMostSteps(t *testing.T) {
	minute := stack.Window{Step: time.Minute, Steps: 60}
	for name, c := range map[string]struct {
		each float64
		want time.Duration
	}{
		"many": {100, time.Minute}, "some": {30, 5 * time.Minute}, "few": {1, 10 * time.Minute},
		"none": {none, 10 * time.Minute},
	} {
		attempts := make([]float64, 60)
		for n := range attempts {
			attempts[n] = c.each
		}
		got := widened(minute, []int{1, 5, 10}, attempts)
		if got.Step != c.want || got.Step*time.Duration(got.Steps) != time.Hour {
			t.Errorf("%s: %d steps of %s, want %s", name, got.Steps, got.Step, c.want)
		}
	}
}
