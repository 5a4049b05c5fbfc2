//go:build emulator

package template

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/conditions"
	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// inPartition are the partitions of Regions whose names begin so.
var inPartition = map[string]string{
	"cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso": "aws-iso", "eu-iso": "aws-iso-e", "eusc-": "aws-eusc",
}

// In each Region the default stack has only types that its CloudFormation knows. A Region without budgets refuses one
// before anything is created.
func TestTheStackHasOnlyTypesThatTheRegionKnows(t *testing.T) {
	whole, err := sam.Translate(t.Context(), sam.Source{Root: root, Environment: "default", Parameters: everything})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, r := range cfn.Of(whole.Body).Resources {
		kinds[r.Type] = true
	}
	lacking := lackingTypes(t, slices.Sorted(maps.Keys(kinds)))
	if len(lacking) < 35 {
		t.Errorf("%d Regions are known", len(lacking))
	}
	some := 0
	for region, kinds := range lacking {
		s := settings(maps.Clone(whole.Parameters))
		s["AWS::Region"], s["AWS::Partition"] = region, "aws"
		for begin, partition := range inPartition {
			if strings.HasPrefix(region, begin) {
				s["AWS::Partition"] = partition
			}
		}
		some += len(kinds)
		budgets := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind != "AWS::Budgets::Budget" })
		var want []string
		for range budgets {
			want = append(want, "MonthlyBudget is set, and CloudFormation makes no budgets in this Region")
		}
		if diff := cmp.Diff(want, s.refused(t, load(t))); diff != "" {
			t.Errorf("%s, with a budget (-want +got):\n%s", region, diff)
		}
		s["MonthlyBudget"] = "0"
		chosen, err := conditions.Choose(whole.Body, s)
		if err != nil {
			t.Fatal(err)
		}
		for id, r := range cfn.Of(chosen).Resources {
			if slices.Contains(kinds, r.Type) {
				t.Errorf("%s: %s is of the type %s, which the Region does not know", region, id, r.Type)
			}
		}
	}
	if some == 0 {
		t.Error("no Region lacks a type")
	}
}

// lackingTypes are the types that a Region's CloudFormation does not know, by Region.
func lackingTypes(t *testing.T, kinds []string) map[string][]string {
	t.Helper()
	python := filepath.Join(root, ".venv/bin/python")
	cmd := exec.CommandContext(t.Context(), python, append([]string{"regions.py"}, kinds...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading schemas: %v", err)
	}
	found := map[string][]string{}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}
