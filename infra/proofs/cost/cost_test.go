package cost

import (
	"os"
	"strings"
	"testing"
)

// A window gathers the messages that arrive during it, up to a whole batch.
func TestProfile_fill(t *testing.T) {
	for _, row := range []struct {
		perSecond, window float64
		want              int
		mean, most        float64
	}{{0.1, 5, 1, 10, 10}, {5, 5, 5, 4, 10}, {1000, 1, 10, 0.09, 2}} {
		p := profile{batch: 10, window: row.window}
		mean, most := p.wait(row.perSecond)
		if n := p.fill(row.perSecond); n != row.want || mean != row.mean || most != row.most {
			t.Errorf("%d in a batch, later by %v s and %v s, want %+v", n, mean, most, row)
		}
	}
}

func TestTheReadmeQuotesThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"1,000,000 a day | default", "1,000,000 a day | `low-traffic`", "1,000 a second | default",
		"1,000 a second | default, `ProvisionedCapacity`", "1,000 a second | `high-volume`",
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
