package cost

import (
	"os"
	"strings"
	"testing"
)

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
