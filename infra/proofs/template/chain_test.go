package template

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/functions"
)

// invocation is of a function: by the mapping of a queue, or directly, where there is none.
type invocation struct{ function, queue string }

// network shows which function invokes which, by rights and mappings.
type network struct {
	tpl       template
	consumers map[string]string   // of queues: functions
	onward    map[string][]string // the queues that deliver sends to; nil: all that it may
}

func newNetwork(tpl template, onward map[string][]string) network {
	n := network{tpl: tpl, consumers: map[string]string{}, onward: onward}
	for id, function := range tpl.OfType("AWS::Serverless::Function") {
		for _, mapping := range mappingsOf(function.Properties) {
			n.consumers[target(mapping["Queue"])] = strings.TrimSuffix(id, "Function")
		}
	}
	return n
}

// next returns the invocations that one invocation may cause. A message that SQS redrives belongs to the same chain.
func (n network) next(of invocation) (all []invocation) {
	role := of.function + "Role"
	for id := range n.tpl.OfType("AWS::SQS::Queue") {
		only, limited := n.onward[of.queue]
		if !may(n.tpl, role, asked{action: "sqs:SendMessage", resource: id}) || limited && !slices.Contains(only, id) {
			continue
		}
		for q := id; q != ""; q = target(at(n.tpl.Resources[q].Properties, "RedrivePolicy")["deadLetterTargetArn"]) {
			if consumer := n.consumers[q]; consumer != "" {
				all = append(all, invocation{consumer, q})
			}
		}
	}
	for _, function := range functionsOf(n.tpl) {
		if may(n.tpl, role, asked{action: "lambda:InvokeFunction", resource: function + "Function"}) {
			all = append(all, invocation{function: function})
		}
	}
	return all
}

// follow walks every chain that goes on from an invocation. It collects in most the highest number of invocations of
// each function in any chain, and in circles the functions that a chain comes back to by the same queue.
func (n network) follow(chain []invocation, most map[string]int, circles map[string]bool) {
	last := chain[len(chain)-1]
	times := 0
	for _, one := range chain {
		if one.function == last.function {
			times++
		}
	}
	most[last.function] = max(most[last.function], times)
	for _, one := range n.next(last) {
		if slices.Contains(chain, one) {
			circles[one.function] = true
			continue
		}
		n.follow(append(slices.Clone(chain), one), most, circles)
	}
}

func (n network) chains() (most map[string]int, circles map[string]bool) {
	most, circles = map[string]int{}, map[string]bool{}
	mapped := map[string]bool{}
	for queue, function := range n.consumers {
		mapped[function] = true
		n.follow([]invocation{{function, queue}}, most, circles)
	}
	for _, function := range functionsOf(n.tpl) {
		if !mapped[function] {
			n.follow([]invocation{{function: function}}, most, circles)
		}
	}
	return most, circles
}

// Lambda ends a chain after some 16 invocations of a function. deliver's rights alone would allow endless chains, so
// the test takes the queues that it really sends to. infra/proofs/invariants watches these.
func TestTheLongestChainHasThreeInvocationsOfDeliver(t *testing.T) {
	tpl := load(t)
	most, circles := newNetwork(tpl, functions.Onward).chains()
	want := map[string]int{}
	for _, function := range functionsOf(tpl) {
		want[function] = 1
	}
	want["Deliver"] = 3
	if diff := cmp.Diff(want, most); diff != "" || len(circles) > 0 {
		t.Errorf("invocations of a function in a chain (-want +got):\n%scircles: %v", diff, circles)
	}
	_, circles = newNetwork(tpl, nil).chains()
	watched := map[string]bool{}
	for id, a := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
		for _, m := range a.Metrics() {
			if m.Name == "RecursiveInvocationsDropped" && id == "RecursiveInvocationsAlarm" {
				_, of, _ := strings.Cut(m.String(), "=")
				watched[strings.TrimSuffix(of, "Function}")] = true
			}
		}
	}
	if diff := cmp.Diff(circles, watched); diff != "" {
		t.Errorf("functions that may go round, and those with an alarm on it (-want +got):\n%s", diff)
	}
	var sent []string
	for _, queues := range functions.Onward {
		sent = append(sent, queues...)
	}
	slices.Sort(sent)
	if diff := cmp.Diff(sendersOf(tpl)["Deliver"], slices.Compact(sent)); diff != "" {
		t.Errorf("what deliver may send to, and what it sends to (-want +got):\n%s", diff)
	}
}

// sendersOf are the queues that each role may send to.
func sendersOf(tpl template) map[string][]string {
	all := map[string][]string{}
	for role := range tpl.OfType("AWS::IAM::Role") {
		for _, id := range slices.Sorted(maps.Keys(tpl.OfType("AWS::SQS::Queue"))) {
			if may(tpl, role, asked{action: "sqs:SendMessage", resource: id}) {
				name := strings.TrimSuffix(role, "Role")
				all[name] = append(all[name], id)
			}
		}
	}
	return all
}

// Only events, tests and replays may send to DeliveryQueue, which is for first attempts: a delivery that was attempted
// goes to RetryQueue or SlowQueue.
func TestWhoMaySendWhere(t *testing.T) {
	want := map[string][]string{
		"Fanout":  {"DeliveryQueue", "EventsDeadLetterQueue", "SlowQueue"},
		"Deliver": {"DeadLetterQueue", "RetryQueue", "SlowQueue"},
		"Release": {"DeadLetterQueue", "RetryQueue"},
		"Replay":  {"DeliveryQueue", "EventsQueue", "RetryQueue"},
		"Control": {"DeliveryQueue"},

		"Webhooks": {"DeliveryQueue"},

		"HeartbeatSchedule": {"EventsQueue"},
	}
	if diff := cmp.Diff(want, sendersOf(load(t))); diff != "" {
		t.Errorf("who may send where (-want +got):\n%s", diff)
	}
}
