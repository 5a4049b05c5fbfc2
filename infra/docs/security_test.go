package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	definedTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// A defence or a control without its test is only a claim, and so is the step of a recipe. A test gets lost when it is
// renamed or deleted.
func TestPagesNameTestsThatExist(t *testing.T) {
	defined := map[string]bool{}
	for name, text := range texts(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range definedTest.FindAllStringSubmatch(text, -1) {
				defined[found[1]] = true
			}
		}
	}
	for _, page := range []string{"security.md", "design.md", "proof.md"} {
		named := namedTest.FindAllStringSubmatch(readFile(t, "infra/docs/"+page), -1)
		if len(named) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, test := range named {
			if !defined[test[1]] {
				t.Errorf("%s names %s, which does not exist", page, test[1])
			}
		}
	}
}

// An auditor looks for the alarm by the name that the page gives, and for the field in the line of the audit log.
func TestControlsNameAlarmsAndAuditFieldsThatExist(t *testing.T) {
	template := readFile(t, "template.yaml")
	audit := readFile(t, "infra/docs/operator-api.md")
	_, controls, _ := strings.Cut(readFile(t, "infra/docs/proof.md"), "\n## Controls\n")
	controls, _, _ = strings.Cut(controls, "\n## ")
	alarms, fields := 0, 0
	for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(controls, -1) {
		switch {
		case strings.HasPrefix(name[1], "Test"):
		case strings.HasSuffix(name[1], "Alarm"):
			alarms++
			if !strings.Contains(template, "\n  "+name[1]+":") {
				t.Errorf("proof.md names the alarm %s, which does not exist", name[1])
			}
		default:
			fields++
			if !strings.Contains(audit, "\n| Line | `"+name[1]+"` |") {
				t.Errorf("proof.md names the field %s, which no audit line has", name[1])
			}
		}
	}
	if alarms < 10 || fields < 10 {
		t.Errorf("proof.md names %d alarms and %d fields", alarms, fields)
	}
}

// Each answer of the script is explained where its readers look.
func TestVerifyingExplainsWhatTheScriptSays(t *testing.T) {
	script := strings.ReplaceAll(readFile(t, "infra/examples/check.sh"), "$2", "")
	_, table, _ := strings.Cut(readFile(t, "infra/docs/verifying.md"), "| check.sh says |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		rows++
		said := regexp.MustCompile(`\([^)]*\) `).ReplaceAllString(strings.TrimSpace(cells[1]), "")
		said = strings.ReplaceAll(strings.TrimPrefix(said, "verifies, "), "verifies ", "")
		for part := range strings.SplitSeq(said, "…") {
			if part = strings.TrimSpace(part); !strings.Contains(script, part) {
				t.Errorf("check.sh never says %q", part)
			}
		}
	}
	if rows < 9 {
		t.Errorf("verifying.md explains %d answers", rows)
	}
}
