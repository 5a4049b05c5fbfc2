//go:build emulator

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// The emulator keeps mappings and their tags as AWS does. The local stack has them off there, since it delivers by
// mappings that it runs itself. Here all but one are on, as if it were on AWS.
func TestStopAndStartOnTheLocalStack(t *testing.T) {
	startStack(t)
	s, err := stack.Connect(t.Context(), stack.Where{Local: true})
	if err != nil {
		t.Fatal(err)
	}
	functions := lambda.NewFromConfig(s.AWS)
	states := func() (all []string) {
		listed, err := functions.ListEventSourceMappings(t.Context(), &lambda.ListEventSourceMappingsInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range listed.EventSourceMappings {
			all = append(all, aws.ToString(m.UUID)+" "+aws.ToString(m.State))
		}
		slices.Sort(all)
		return all
	}
	off := states()
	if len(off) != 5 {
		t.Fatalf("mappings: %v", off)
	}
	for _, m := range off[1:] {
		id, _, _ := strings.Cut(m, " ")
		_, err := functions.UpdateEventSourceMapping(t.Context(),
			&lambda.UpdateEventSourceMappingInput{UUID: &id, Enabled: aws.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := states()

	plan := ends(t, exit.Done, "--dry-run stop")
	stopped := ends(t, exit.Done, "stop")
	if now := states(); !slices.Equal(now, off) {
		t.Errorf("after a stop: %v", now)
	}
	again := ends(t, exit.Done, "stop")
	started := ends(t, exit.Done, "start")
	if now := states(); !slices.Equal(now, before) {
		t.Errorf("after a start: %v, want %v", now, before)
	}
	ends(t, exit.Done, "start")
	said := plan + stopped + again + started
	t.Log(said)
	for text, n := range map[string]int{
		" stop\n": 4, " stopped\n": 4, " was off before\n": 1, " started\n": 4, " stays off": 1,
	} {
		if got := strings.Count(said, text); got != n {
			t.Errorf("says %q %d times, want %d:\n%s", text, got, n, said)
		}
	}
}
