package chart

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

	"github.com/herald-webhooks/herald/infra/kit/plot"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

var none = math.NaN()

func TestChart_hasClockTimesUnitsMarksAndReadings(t *testing.T) {
	from := time.Date(2026, 1, 2, 14, 3, 0, 0, time.UTC)
	values := make([]float64, 60)
	for n := range values {
		values[n] = none
	}
	values[10], values[11], values[59] = 1200, 400, 12
	c := Chart{
		Title: "a < b", Unit: "in 1m", Window: stack.Window{From: from, Step: time.Minute, Steps: 60},
		Tick: 10 * time.Minute, Clock: "15:04", Least: 1, Lines: []plot.Line{{Label: "all", Values: values}},
		Marks: []Mark{
			{At: from.Add(30 * time.Minute), Kind: Alarm, Text: "<Deaths>"},
			{At: from.Add(-time.Hour), Kind: Alarm, Text: "before"},
		},
	}
	drawn := string(c.SVG())
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
