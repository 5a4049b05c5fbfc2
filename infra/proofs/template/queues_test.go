package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SQS moves a message into a dead-letter queue without asking for a right. Without this policy, any queue of the
// account could name ours as its dead-letter queue.
//
// Threat of the account: has SQS redrive a message onto a queue. Held by: dead-letter queues name their sources, the
// others take none.
func TestOnlyOurQueuesRedriveIntoOurQueues(t *testing.T) {
	tpl := load(t)
	queues := tpl.OfType("AWS::SQS::Queue")
	sources := map[string][]string{} // ARNs, by dead-letter queue
	for name, q := range queues {
		own := at(q.Properties, "QueueName")["Fn::Sub"]
		arn := fmt.Sprint("arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:", own)
		if dead := target(at(q.Properties, "RedrivePolicy")["deadLetterTargetArn"]); dead != "" {
			sources[dead] = append(sources[dead], arn)
		}
		if !strings.Contains(arn, ":${AWS::StackName}-") {
			t.Errorf("%s is not named after its stack", name)
		}
	}
	for name, q := range queues {
		policy, want, permission := at(q.Properties, "RedriveAllowPolicy"), sources[name], "byQueue"
		if len(want) == 0 {
			permission = "denyAll"
		}
		if len(want) == 0 && q.Properties["RedrivePolicy"] == nil {
			t.Errorf("%s has no dead-letter queue and is none", name)
		}
		var got []string
		for _, arn := range list(policy["sourceQueueArns"]) {
			got = append(got, fmt.Sprint(arn.(object)["Fn::Sub"]))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || policy["redrivePermission"] != permission {
			t.Errorf("%s: %v, want %s, from (-want +got):\n%s", name, policy["redrivePermission"], permission, diff)
		}
	}
}

// Messages on the queues of deliveries are signed. An identity that may send to every queue of the account may still
// not send to these.
//
// Threat of the account: sends a delivery of their own. Held by: queues refuse messages of others, and connections
// without TLS.
func TestQueuesTakeMessagesFromOurFunctionsOnly(t *testing.T) {
	tpl := load(t)
	policies := map[string][]object{}
	for _, p := range tpl.OfType("AWS::SQS::QueuePolicy") {
		for _, q := range list(p.Properties["Queues"]) {
			policies[target(q)] = append(policies[target(q)], statements(p.Properties["PolicyDocument"])...)
		}
	}
	for name := range tpl.OfType("AWS::SQS::Queue") {
		denied := map[any]object{} // by action
		for _, s := range policies[name] {
			if s["Effect"] == "Deny" && s["Principal"] == "*" && target(s["Resource"]) == name {
				denied[s["Action"]] = at(s, "Condition")
			}
		}
		plain := object{"Bool": object{"aws:SecureTransport": "false"}}
		if diff := cmp.Diff(plain, denied["sqs:*"]); diff != "" {
			t.Errorf("%s refuses what is not TLS (-want +got):\n%s", name, diff)
		}
		if name == "EventsQueue" { // publishers have their own policies
			continue
		}
		var want, got []string
		for role := range tpl.OfType("AWS::IAM::Role") {
			if may(tpl, role, asked{action: "sqs:SendMessage", resource: name}) {
				want = append(want, role)
			}
		}
		for _, role := range list(at(denied["sqs:SendMessage"], "ArnNotEquals")["aws:PrincipalArn"]) {
			got = append(got, target(role))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s takes messages of (-want +got):\n%s", name, diff)
		}
		services := object{"aws:PrincipalIsAWSService": "false"} // SQS moves messages, and may ask as itself
		if diff := cmp.Diff(services, at(denied["sqs:SendMessage"], "BoolIfExists")); diff != "" {
			t.Errorf("%s and services (-want +got):\n%s", name, diff)
		}
	}
}
