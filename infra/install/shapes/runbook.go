package shapes

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Runbook is the path of the runbook, from the root of the repository.
const Runbook = "infra/docs/operators.md"

var (
	written = regexp.MustCompile(`(?s)(<!-- go generate \./infra/install/shapes writes from here: (\w+) -->\n)` +
		`.*?(<!-- to here -->\n)`)
	namedAlarm = regexp.MustCompile(`\b[A-Z][A-Za-z]+Alarm\b`)
)

// WithRunbook returns the runbook with a section for each alarm of the template, by its description, and with the
// reasons of deliveries as internal/rules/delivery explains them now.
func WithRunbook(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, Runbook)) //nolint:gosec // of the repository
	if err != nil {
		return nil, err
	}
	sections, err := alarms(root)
	if err != nil {
		return nil, err
	}
	table, err := reasons(root)
	if err != nil {
		return nil, err
	}
	made := map[string]string{"alarms": sections, "reasons": table}
	whole := written.ReplaceAllStringFunc(string(text), func(part string) string {
		m := written.FindStringSubmatch(part)
		whole := m[1] + "\n" + made[m[2]] + "\n" + m[3]
		delete(made, m[2])
		return whole
	})
	for _, what := range slices.Sorted(maps.Keys(made)) {
		return nil, fmt.Errorf("%s has no lines between which the %s go", Runbook, what)
	}
	return []byte(whole), nil
}

// alarms are the sections of the template's alarms, in alphabetical order. The names of others become links.
func alarms(root string) (string, error) {
	t, err := cfn.Read(filepath.Join(root, "template.yaml"))
	if err != nil {
		return "", err
	}
	link := func(other string) string { return "[" + other + "](#" + strings.ToLower(other) + ")" }
	all := t.OfType("AWS::CloudWatch::Alarm")
	var sections []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		severity, properties := "Page. ", all[name].Properties
		if strings.Contains(fmt.Sprint(properties["AlarmActions"]), "TicketTopicArn") {
			severity = "Ticket. "
		}
		says := namedAlarm.ReplaceAllStringFunc(fmt.Sprint(properties["AlarmDescription"]), link)
		sections = append(sections, "### "+name+"\n\n"+wrapped(severity+says))
	}
	return strings.Join(sections, "\n"), nil
}

// wrapped is a paragraph in lines of 120 characters at most.
func wrapped(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 120:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String() + "\n"
}

// reasons are a table of the constants of the type Reason.
func reasons(root string) (string, error) {
	files, err := parse(filepath.Join(root, "internal/rules/delivery"))
	if err != nil {
		return "", err
	}
	rows := "| reason | means, and what to do |\n|---|---|\n"
	for _, f := range files {
		for _, d := range f.Decls {
			if group, ok := d.(*ast.GenDecl); ok {
				rows += reasonRows(group)
			}
		}
	}
	return rows, nil
}

func reasonRows(group *ast.GenDecl) (rows string) {
	for _, s := range group.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || v.Type == nil || word(v.Type) != "Reason" || len(v.Values) != 1 {
			continue
		}
		rows += fmt.Sprintf("| %s | %s |\n", strings.ReplaceAll(word(v.Values[0]), `"`, "`"), said(v.Doc))
	}
	return rows
}
