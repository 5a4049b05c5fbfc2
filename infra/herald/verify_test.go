package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// An interrupted run hides nothing that it leaves behind.
func TestRemoving_tellsWhatIsLeftInAnyCase(t *testing.T) {
	left, broken := errors.New("deleting the stack herald-verify-receiver: DELETE_FAILED"), &failure{code: exitUnhealthy}
	for name, row := range map[string]struct{ end, run error }{
		"all is well": {nil, nil}, "the stack is broken": {nil, broken}, "something is left": {left, nil},
		"both": {left, broken}, "interrupted, and something is left": {left, context.Canceled},
	} {
		var said bytes.Buffer
		a := &app{terminal: terminal{err: &said}}
		code := a.end(a.removing(stack{}, func() error { return row.end }, row.run))
		if want := (&app{terminal: terminal{err: new(bytes.Buffer)}}).end(errors.Join(row.run, row.end)); code != want {
			t.Errorf("%s: exit code %d, want %d", name, code, want)
		}
		if told := strings.Contains(said.String(), "DELETE_FAILED"); told != (row.end != nil) {
			t.Errorf("%s: says %q", name, said.String())
		}
	}
}

func TestStack_functionARNs_nameAliasesToo(t *testing.T) {
	s := stack{operator: "arn:aws-cn:iam::111122223333:user/ann", functions: map[string]string{
		"replay": "h-replay", "replaydelete": "h-replay:delete",
	}}
	s.aws.Region = "cn-north-1"
	got, err := s.functionARNs()
	slices.Sort(got)
	const replay = "arn:aws-cn:lambda:cn-north-1:111122223333:function:h-replay"
	if want := []string{replay, replay + ":delete"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
