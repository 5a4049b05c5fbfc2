package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// The heartbeat has to be an event of the catalogue that the package's functions are built with.
func TestBeat_sendsATypeOfTheCatalogue(t *testing.T) {
	own := []catalogue.Type{{Name: "order.shipped", Example: `{"note":"a ${b} of Zoë's"}`}, {Name: "order.lost"}}
	before := heartbeatOf(t, nil, func(string) bool { return true })
	if !strings.Contains(before, `"type":"user.updated","data":{"userId":"user_heartbeat"}`) {
		t.Errorf("without a catalogue the heartbeat is %s", before)
	}
	const want = `{"tenant_id":"${HeartbeatTenant}","type":"order.shipped","data":{"note":"a ${!b} of Zoë's"}}`
	after := heartbeatOf(t, own, func(string) bool { return false })
	reshaped := append(own[:len(own):len(own)], catalogue.Type{Name: "user.updated", Example: `{"sub":"1"}`})
	const kept = `{"tenant_id":"${HeartbeatTenant}","type":"user.updated","data":{"sub":"1"}}`
	if got := heartbeatOf(t, reshaped, func(string) bool { return false }); got != kept {
		t.Errorf("with a user.updated of one's own the heartbeat is %s", got)
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("the heartbeat (-want +got):\n%s", diff)
	}
}

func TestBeat_failsWithoutAHeartbeatOrAType(t *testing.T) {
	empty, err := cfn.Parse([]byte("Resources: {}"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := cfn.Parse(file(t, filepath.Join(root, "template.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) bool { return false }
	if beat(empty, catalogue.Types(), none) == nil || beat(whole, nil, none) == nil {
		t.Error("a template without a heartbeat, or a catalogue without a type, is taken")
	}
}

// heartbeatOf is the event of the packaged template, as its file has it.
func heartbeatOf(t *testing.T, types []catalogue.Type, specified func(string) bool) string {
	t.Helper()
	template, err := cfn.Parse(file(t, filepath.Join(root, "template.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	if err := beat(template, types, specified); err != nil {
		t.Fatal(err)
	}
	text, err := cfn.Write(template)
	if err != nil {
		t.Fatal(err)
	}
	written, err := cfn.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	input := cfn.Child(written, "Resources", "HeartbeatSchedule", "Properties", "Target", "Input")
	if input.Tag != "!Sub" {
		t.Errorf("the event has the tag %s", input.Tag)
	}
	return input.Value
}
