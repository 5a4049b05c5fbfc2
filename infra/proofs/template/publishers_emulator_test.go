//go:build emulator

package template

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// What may send to EventsQueue, with every parameter: one topic and one rule of this account, and one of another each.
const (
	topic  = "arn:aws:sns:" + place + ":" + account + ":users"
	rule   = "arn:aws:events:" + place + ":" + account + ":rule/herald/users"
	topics = topic + ",arn:aws:sns:eu-west-1:444455556666:events.fifo"
	rules  = rule + ",arn:aws:events:" + place + ":444455556666:rule/users"
)

// Threat of a publisher: publishes from another account, topic or rule. Held by: only those that a parameter names
// exactly.
func TestOtherAccountsPublishOnlyWhereTheyAreNamed(t *testing.T) {
	var all []object
	for _, s := range allowedOnQueues(translated(t, everything...)) {
		if at(s, "Principal")["AWS"] != nil {
			all = append(all, s)
		}
	}
	if len(all) != 1 || all[0]["Action"] != "sqs:SendMessage" || target(all[0]["Resource"]) != "EventsQueue" {
		t.Fatalf("other accounts may: %v", all)
	}
	want := object{"AWS": object{"Fn::Split": []any{",", object{"Ref": "PublisherAccounts"}}}}
	if diff := cmp.Diff(want, all[0]["Principal"]); diff != "" {
		t.Errorf("who may publish (-want +got):\n%s", diff)
	}
}

func TestNobodyElseMaySendUnlessAParameterSaysSo(t *testing.T) {
	if all := allowedOnQueues(translated(t)); len(all) != 0 {
		t.Errorf("by default: %v", all)
	}
	var got []string
	for _, s := range allowedOnQueues(translated(t, everything...)) {
		got = append(got, s["Sid"].(string))
	}
	if diff := cmp.Diff([]string{"PublishFromOtherAccounts", "PublishFromTopics", "PublishFromRules"}, got); diff != "" {
		t.Errorf("with every parameter (-want +got):\n%s", diff)
	}
}

// allowedOnQueues are the statements of queues' policies that do not deny.
func allowedOnQueues(tpl template) (all []object) {
	for _, r := range tpl.OfType("AWS::SQS::QueuePolicy") {
		for _, s := range statements(r.Properties["PolicyDocument"]) {
			if s["Effect"] != "Deny" {
				all = append(all, s)
			}
		}
	}
	return all
}

// sends is a message that a service or another principal sends for somebody, whose ARN AWS adds to the call.
type sends struct{ principal, source, action, queue string }

// Each parameter opens EventsQueue to what it names, and to nothing else. Two evaluators have to agree.
func TestTopicsAndRulesPublishOnlyWhereTheyAreNamed(t *testing.T) {
	const sns, events, send = "sns.amazonaws.com", "events.amazonaws.com", "sqs:SendMessage"
	const others, mallory = "444455556666", iam + "user/mallory"
	want := map[sends]bool{
		{sns, topic, send, "EventsQueue"}:                                                       true,
		{sns, "arn:aws:sns:eu-west-1:" + others + ":events.fifo", send, "EventsQueue"}:          true,
		{events, rule, send, "EventsQueue"}:                                                     true,
		{events, "arn:aws:events:" + place + ":" + others + ":rule/users", send, "EventsQueue"}: true,

		{sns, topic + "2", send, "EventsQueue"}:                                                  false,
		{sns, "arn:aws:sns:" + place + ":" + others + ":users", send, "EventsQueue"}:             false,
		{sns, "arn:aws:sns:eu-west-1:" + account + ":users", send, "EventsQueue"}:                false,
		{sns, "arn:aws:sns:" + place + ":" + account + ":*", send, "EventsQueue"}:                false,
		{sns, "", send, "EventsQueue"}:                                                           false,
		{sns, rule, send, "EventsQueue"}:                                                         false,
		{events, topic, send, "EventsQueue"}:                                                     false,
		{events, rule + "/x", send, "EventsQueue"}:                                               false,
		{events, "arn:aws:events:" + place + ":" + account + ":rule/users", send, "EventsQueue"}: false,
		{events, "", send, "EventsQueue"}:                                                        false,
		{"s3.amazonaws.com", topic, send, "EventsQueue"}:                                         false,
		{mallory, topic, send, "EventsQueue"}:                                                    false,
		{sns, topic, "sqs:ReceiveMessage", "EventsQueue"}:                                        false,
		{sns, topic, "sqs:SetQueueAttributes", "EventsQueue"}:                                    false,
	}
	for id := range load(t).OfType("AWS::SQS::Queue") {
		if id != "EventsQueue" {
			want[sends{sns, topic, send, id}], want[sends{events, rule, send, id}] = false, false
		}
	}
	d := deployment{load(t), settings{"PublisherTopics": topics, "PublisherRules": rules, "PublisherAccounts": others}}
	verdicts(t, d, want)
	none := deployment{load(t), configurations(t, load(t))["default"]}
	for call := range want {
		want[call] = false
	}
	verdicts(t, none, want)
}

// verdicts compares those of both evaluators with what is wanted.
func verdicts(t *testing.T, d deployment, want map[sends]bool) {
	t.Helper()
	d.template = translatedWith(t, d.settings)
	var calls []rights.Call
	all := slices.Collect(maps.Keys(want))
	for _, s := range all {
		context := object{"aws:SecureTransport": "true", "aws:PrincipalIsAWSService": "true"}
		if s.source != "" {
			context["aws:SourceArn"], context["aws:SourceAccount"] = s.source, strings.Split(s.source, ":")[4]
		}
		calls = append(calls, rights.Call{
			Principal: s.principal, Action: s.action, Resource: arn(d.template, s.queue), Account: account,
			Context: context, Identity: []any{}, ResourcePolicy: d.policyOf(s.queue),
		})
	}
	for i, second := range evaluate(t, calls) {
		first, err := rights.Judge(calls[i])
		if err != nil || first != second || (first == rights.Allowed) != want[all[i]] {
			t.Errorf("%+v: ours says %s (%v), the other %s", all[i], first, err, second)
		}
	}
}

// translatedWith is the template under these settings of parameters that the default has otherwise.
func translatedWith(t *testing.T, s settings) template {
	t.Helper()
	var parameters []string
	for _, name := range []string{"PublisherAccounts", "PublisherTopics", "PublisherRules"} {
		if s[name] != "" {
			parameters = append(parameters, name+"="+s[name])
		}
	}
	return translated(t, parameters...)
}
