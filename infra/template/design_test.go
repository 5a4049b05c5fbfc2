package template

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// designTable returns the rows of the first table under a heading of infra/docs/design.md,
// without its header.
func designTable(t *testing.T, title string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "infra", "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		cells, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		switch {
		case isRow:
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, "|"), "|"))
		case len(rows) > 0:
			return trimmed(rows[2:])
		}
	}
	if !found || len(rows) < 3 {
		t.Fatalf("design.md has no table under %q", title)
	}
	return trimmed(rows[2:])
}

func trimmed(rows [][]string) [][]string {
	for _, row := range rows {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

func TestTheNumbersOfTheDesignAreTheConfigured(t *testing.T) {
	tpl := load(t)
	all := configurations(t, tpl)
	type pair struct{ Default, Local string }
	got, want := map[string]pair{}, map[string]pair{}
	for _, row := range designTable(t, "Numbers") {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			got[name[1]] = pair{row[2], row[3]}
		}
	}
	for name, p := range tpl.Parameters {
		want[name] = pair{fmt.Sprint(p["Default"]), all["local"][name]}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers in design.md (-template +design):\n%s", diff)
	}
}

func TestTheTablesOfTheDesignAreTheTemplates(t *testing.T) {
	type table struct{ Keys, Indexes, Safety string }
	got, want := map[string]table{}, map[string]table{}
	for _, row := range designTable(t, "Tables") {
		got[row[0]] = table{row[1], row[2], row[3]}
	}
	for name, r := range load(t).ofType(t, "AWS::DynamoDB::Table", 6) {
		p := r.Properties
		var indexes, safety []string
		for _, index := range list(p["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, fmt.Sprint(index.(object)["IndexName"], ": ", keysOf(index.(object))))
		}
		if at(p, "PointInTimeRecoverySpecification")["PointInTimeRecoveryEnabled"] == true {
			safety = append(safety, "point-in-time recovery")
		}
		if p["DeletionProtectionEnabled"] == true {
			safety = append(safety, "deletion protection")
		}
		if attribute, ok := at(p, "TimeToLiveSpecification")["AttributeName"].(string); ok {
			safety = append(safety, attribute)
		}
		want[name] = table{keysOf(p), strings.Join(indexes, "; "), strings.Join(safety, ", ")}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables in design.md (-template +design):\n%s", diff)
	}
}

func keysOf(table object) string { return strings.ReplaceAll(schema(table), " ", ", ") }

// consuming is what "consume" stands for in the table of rights.
var consuming = []string{
	"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
}

// designRights reads a cell such as "consume Q; `a`, `b` on X, Y" as the set of "action resource".
func designRights(cell string) []string {
	var rights []string
	for part := range strings.SplitSeq(cell, "; ") {
		actions, resources := consuming, strings.TrimPrefix(part, "consume ")
		if resources == part {
			var named string
			named, resources, _ = strings.Cut(part, " on ")
			actions = nil
			for _, action := range quoted.FindAllStringSubmatch(named, -1) {
				actions = append(actions, action[1])
			}
		}
		for _, action := range actions {
			for resource := range strings.SplitSeq(resources, ", ") {
				rights = append(rights, action+" "+resource)
			}
		}
	}
	return sorted(rights)
}

func sorted(items []string) []string {
	slices.Sort(items)
	return slices.Compact(items)
}

// templateRights are the rights of a role but those on its own log group.
func templateRights(tpl template, name string) []string {
	var rights []string
	for _, s := range roleStatements(tpl, name+"Role") {
		if s["Sid"] == "Log" {
			continue
		}
		for _, action := range list(s["Action"]) {
			for _, resource := range list(s["Resource"]) {
				rights = append(rights, fmt.Sprint(action, " ", target(resource)))
			}
		}
	}
	return sorted(rights)
}

func triggers(tpl template, name string) string {
	var found []string
	for _, event := range at(tpl.Resources[name+"Function"].Properties, "Events") {
		e := event.(object)
		if e["Type"] == "SQS" {
			found = append(found, target(at(e, "Properties")["Queue"]))
		} else {
			found = append(found, fmt.Sprint(e["Type"]))
		}
	}
	if len(found) == 0 {
		return "operator"
	}
	return strings.Join(sorted(found), ", ")
}

func TestTheFunctionsOfTheDesignHaveTheTemplatesTriggersAndRights(t *testing.T) {
	tpl := load(t)
	type function struct {
		Trigger string
		Rights  []string
	}
	got, want := map[string]function{}, map[string]function{}
	for _, row := range designTable(t, "Functions and their rights") {
		got[row[0]] = function{row[1], designRights(row[2])}
	}
	for name := range tpl.ofType(t, "AWS::Serverless::Function", len(functions)) {
		name = strings.TrimSuffix(name, "Function")
		want[strings.ToLower(name)] = function{triggers(tpl, name), templateRights(tpl, name)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions in design.md (-template +design):\n%s", diff)
	}
}
