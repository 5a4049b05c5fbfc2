package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// A table that can be taken back has a plan, with the table's own key.
func TestPlans_areThoseOfTheTablesWithRecovery(t *testing.T) {
	template, err := cfn.Read("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for id, table := range template.OfType("AWS::DynamoDB::Table") {
		if cfn.At(table.Properties, "PointInTimeRecoverySpecification")["PointInTimeRecoveryEnabled"] != true {
			continue
		}
		for _, part := range cfn.List(table.Properties["KeySchema"]) {
			want[id] = append(want[id], fmt.Sprint(part.(cfn.Object)["AttributeName"]))
		}
	}
	for id, plan := range plans {
		got[id] = plan.key
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("%v (-template +plans)\n%s", slices.Sorted(maps.Keys(want)), diff)
	}
}

func TestOptions_namesEveryFault(t *testing.T) {
	for name, row := range map[string]struct {
		o    options
		want string
	}{
		"nothing":                {options{rate: 1}, "-from is missing|-stack is missing|-table is missing"},
		"a table without a plan": {options{stack: "s", table: "Deliveries", from: "f", rate: 1}, "-table Deliveries cannot"},
		"items that never change": {
			options{stack: "s", table: "Backlog", from: "f", rate: 1, overwrite: true}, "-overwrite: items of Backlog",
		},
		"a key for what is not sealed": {
			options{stack: "s", table: "ApiKeys", from: "f", rate: 1, key: "arn"}, "-key: nothing in ApiKeys",
		},
		"no rate":            {options{stack: "s", table: "ApiKeys", from: "f"}, "-rate 0 is not between 1 and 40000"},
		"a rate of no pause": {options{stack: "s", table: "ApiKeys", from: "f", rate: 2e9}, "-rate 2000000000 is not"},
	} {
		t.Run(name, func(t *testing.T) {
			err := row.o.complete()
			if err == nil {
				t.Fatal("no fault")
			}
			for want := range strings.SplitSeq(row.want, "|") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
	fine := options{stack: "s", table: "ApiKeys", from: "f", rate: 1, overwrite: true}
	if err := fine.complete(); err != nil {
		t.Errorf("%+v, %v", fine, err)
	}
}
