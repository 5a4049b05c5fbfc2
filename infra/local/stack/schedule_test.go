package stack

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

func TestStack_runSchedules_startsNoneBesideOneThatCannotBePlayed(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	f, err := function.New(function.Config{Name: "tick", Binary: "schedule.go", LogFile: log})
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // it never runs
	life, end := context.WithCancel(t.Context())
	end()
	schedule := func(expression string) map[string]any {
		target := map[string]any{"Arn": map[string]any{"Fn::GetAtt": []any{"TickFunction", "Arn"}}}
		return map[string]any{
			"Type":       "AWS::Scheduler::Schedule",
			"Properties": map[string]any{"ScheduleExpression": expression, "Target": target},
		}
	}
	for name, row := range map[string]struct {
		other   map[string]any
		started int
	}{
		"the kind that Herald has": {schedule("rate(1 minute)"), 10},
		"every two minutes":        {schedule("rate(2 minutes)"), 0},
		"a rule":                   {map[string]any{"Type": "AWS::Events::Rule"}, 0},
	} {
		resources := map[string]any{"Other": row.other}
		for n := range 9 { // in any order, some are likely to come before the other
			resources[fmt.Sprint(n)] = schedule("rate(1 minute)")
		}
		var said strings.Builder
		s := Stack{
			options: Options{Out: &said}, life: life, functions: map[string]*function.Function{"TickFunction": f},
			template: &sam.Template{Body: map[string]any{"Resources": resources}},
		}
		err := s.runSchedules()
		s.running.Wait()
		started := strings.Count(said.String(), "tick is invoked")
		if started != row.started || (err == nil) != (row.started > 0) {
			t.Errorf("%s: %d started, %v; want %d", name, started, err, row.started)
		}
	}
}
