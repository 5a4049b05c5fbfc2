package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDrawing_isWellFormedAndShowsGaps(t *testing.T) {
	gap := math.NaN()
	drawn := Drawing(2, []Panel{
		{
			Title: "a < b", Unit: "x & y", Step: time.Second, Least: 1, Marks: []time.Duration{time.Second},
			Lines: []Line{{"one", []float64{gap, 1, 2, gap, 12_345, gap}}, {"none", nil}},
		},
		{Title: "empty", Note: "nothing <here>"},
	})
	for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, drawn)
		}
	}
	if strings.Count(drawn, "<polyline") != 1 || strings.Count(drawn, "<circle") != 1 {
		t.Errorf("want a line and a dot between gaps\n%s", drawn)
	}
	for _, text := range []string{"up to 12,345 x &amp; y", ">one<", "nothing &lt;here&gt;", `width="760" height="130"`} {
		if !strings.Contains(drawn, text) {
			t.Errorf("no %q in\n%s", text, drawn)
		}
	}
}
