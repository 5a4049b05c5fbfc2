package queue

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The section has a table of the attributes that are written; its text may name older ones.
func TestTheDesignNamesTheAttributesOfADeliveryMessage(t *testing.T) {
	design, err := os.ReadFile("../../infra/docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(design), "\n### Delivery message\n")
	if !found {
		t.Fatal("design.md has no section about the delivery message")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	for name := range known {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("design.md does not explain the attribute %s", name)
		}
	}
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			rows++
			if _, ok := known[name[1]]; !ok {
				t.Errorf("design.md explains %s, which is not an attribute", name[1])
			}
		}
	}
	if rows == 0 {
		t.Error("design.md has no table of the attributes")
	}
}
