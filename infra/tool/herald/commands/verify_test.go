package commands

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// An interrupted run hides nothing that it leaves behind.
func TestRemoving_tellsWhatIsLeftInAnyCase(t *testing.T) {
	left, broken := errors.New("deleting the stack herald-verify-receiver: DELETE_FAILED"), exit.Quietly(exit.Unhealthy)
	for name, row := range map[string]struct{ end, run error }{
		"all is well": {nil, nil}, "the stack is broken": {nil, broken}, "something is left": {left, nil},
		"both": {left, broken}, "interrupted, and something is left": {left, context.Canceled},
	} {
		var said bytes.Buffer
		on := &terminal.Terminal{Err: &said}
		c := call{Screen: terminal.Screen{Terminal: on}}
		code := end(on, removing(c, func() error { return row.end }, func() error { return row.run }))
		silent := &terminal.Terminal{Err: new(bytes.Buffer)}
		if want := end(silent, errors.Join(row.run, row.end)); code != want {
			t.Errorf("%s: exit code %d, want %d", name, code, want)
		}
		if told := strings.Contains(said.String(), "DELETE_FAILED"); told != (row.end != nil) {
			t.Errorf("%s: says %q", name, said.String())
		}
	}
}

func TestStack_functionARNs_nameAliasesToo(t *testing.T) {
	s := stack.Stack{Operator: "arn:aws-cn:iam::111122223333:user/ann", Functions: map[string]string{
		"replay": "h-replay", "replaydelete": "h-replay:delete",
	}}
	s.AWS.Region = "cn-north-1"
	got, err := functionARNs(s)
	slices.Sort(got)
	const replay = "arn:aws-cn:lambda:cn-north-1:111122223333:function:h-replay"
	if want := []string{replay, replay + ":delete"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestStack_pace_isThatOfTheParameters(t *testing.T) {
	waits, processes, err := pace(stack.Stack{Parameters: map[string]string{
		"RetryBaseSeconds": "5", "RetryFactor": "4", "MaxRetries": "3", "DeliverMaximumConcurrency": "7",
	}})
	want := []time.Duration{5 * time.Second, 20 * time.Second, 80 * time.Second}
	if !slices.Equal(waits, want) || processes != 7 || err != nil {
		t.Errorf("%v, %d, %v", waits, processes, err)
	}
	if _, _, err := pace(stack.Stack{}); err == nil {
		t.Error("no parameters are a pace")
	}
}
