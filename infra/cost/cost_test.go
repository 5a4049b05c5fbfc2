package cost

import (
	"math"
	"os"
	"strings"
	"testing"
)

func TestFigures_text(t *testing.T) {
	rows := []row{{"a name", usage{
		requests: 2 * million, fair: million, published: million, writes: 2 * million, logged: 1e9, sent: 1e9,
	}}}
	both := usage{keys: 2}
	got := figures{rows: rows, fixed: []fixed{
		{"two keys", both, both}, {"alarms", usage{alarms: 10}, usage{}},
		{"the dashboard", usage{dashboards: 1}, usage{dashboards: 1}},
	}}.text()
	for _, line := range []string{
		"| a name | 0.90 | 0.00 | 1.25 | 0.50 | **2.65** | **3.14** |",
		"| two keys | 2.00 | 2.00 |\n| alarms | 1.00 | 0.00 |\n| the dashboard | 3.00 | 3.00 |",
		"| **all, the dashboard apart** | **3.00** | **2.00** |\n",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

// With a window a batch is filled by what arrives meanwhile; without one, by what waits while all pollers are busy.
func TestProfile_fill(t *testing.T) {
	for _, row := range []struct {
		perSecond, window float64
		want              int
		mean, most        float64
	}{
		{0.1, 0, 1, 0, 0}, {11.6, 0, 1, 0, 0}, {1000, 0, 10, 0, 0}, {0.1, 5, 1, 10, 10}, {5, 5, 5, 4, 10},
		{11.6, 5, 10, 3.9, 10},
	} {
		p := profile{batch: 10, window: row.window}
		mean, most := p.wait(row.perSecond)
		if n := p.fill(row.perSecond); n != row.want || math.Abs(mean-row.mean) > 0.05 || most != row.most {
			t.Errorf("%d in a batch, later by %.2f s and %v s, want %+v", n, mean, most, row)
		}
	}
}

func TestTheReadmeQuotesThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"1,000,000 a day | default", "1,000,000 a day | `low-traffic`", "1,000 a second | default",
	} {
		_, rest, _ := strings.Cut(string(page), "\n| "+row+" |")
		line, _, _ := strings.Cut(rest, "\n")
		cells := strings.Split(strings.TrimSuffix(line, " |"), "|")
		price := strings.Trim(cells[len(cells)-1], " *")
		if price == "" || !strings.Contains(string(readme), "$"+price) {
			t.Errorf("the README does not say that %q costs $%s", row, price)
		}
	}
}
