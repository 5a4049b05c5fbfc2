package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Of AWS, which creation meets only when it has begun.
const (
	longestStack    = 53 // characters, by infra/docs/deploy.md
	longestFunction = 64
	longestQueue    = 80
	largestPolicy   = 10_240 // bytes of a role's own policies, together and without white space
	mostPrincipals  = 50     // in a statement of a queue's policy
	longestARN      = 160    // of a table of such a stack with one of its indexes, with a margin
)

func TestNamesFitTheLongestStack(t *testing.T) {
	tpl := load(t)
	named := 0
	for property, most := range map[string]int{"FunctionName": longestFunction, "QueueName": longestQueue} {
		for id, r := range tpl.Resources {
			name, _ := at(r.Properties, property)["Fn::Sub"].(string)
			if name == "" {
				continue
			}
			named++
			stack := strings.Repeat("x", longestStack)
			if full := strings.ReplaceAll(name, "${AWS::StackName}", stack); len(full) > most || strings.Contains(full, "$") {
				t.Errorf("%s: %s has %d characters, and may have %d", id, full, len(full), most)
			}
		}
	}
	if want := len(tpl.OfType("AWS::Serverless::Function")) + len(tpl.OfType("AWS::SQS::Queue")); named != want {
		t.Errorf("%d of %d functions and queues are named after the stack", named, want)
	}
}

func TestPoliciesOfRolesFit(t *testing.T) {
	tpl, references := load(t), regexp.MustCompile(`\{"Fn::[^}]*\}`)
	for id := range tpl.OfType("AWS::IAM::Role") {
		text, err := json.Marshal(roleStatements(tpl, id))
		if err != nil {
			t.Fatal(err)
		}
		size := len(text) + len(references.FindAllString(string(text), -1))*longestARN
		if size > largestPolicy {
			t.Errorf("%s: some %d bytes of policies, and IAM takes %d", id, size, largestPolicy)
		}
	}
}

// A star in a policy's ARN would stand for any topic or rule of any account.
func TestPublisherTopicsAndRulesAreExact(t *testing.T) {
	const topic = "arn:aws:sns:eu-central-1:111122223333:users"
	const rule = "arn:aws:events:eu-central-1:111122223333:rule/users"
	many := func(arn string, n int) string { return strings.TrimSuffix(strings.Repeat(arn+",", n), ",") }
	for name, row := range map[string]struct {
		taken   []string
		refused []string
	}{
		"PublisherTopics": {
			[]string{"", topic, topic + ".fifo", topic + "," + topic + "2", many(topic, 20)},
			[]string{"*", topic + "*", "arn:aws:sns:eu-central-1:111122223333:?sers", "arn:aws:sns:*:111122223333:users",
				"arn:aws:sns:eu-central-1:*:users", "arn:aws:sns:eu-central-1::users", many(topic, 21), topic + ",",
				topic + ", " + topic, rule, "users"},
		},
		"PublisherRules": {
			[]string{"", rule, "arn:aws:events:eu-central-1:111122223333:rule/my.bus/users", many(rule, 20)},
			[]string{"*", rule + "*", rule + "?", "arn:aws:events:eu-central-1:*:rule/users", many(rule, 21), topic,
				"arn:aws:events:eu-central-1:111122223333:event-bus/default"},
		},
	} {
		pattern := regexp.MustCompile("^(" + fmt.Sprint(load(t).Parameters[name]["AllowedPattern"]) + ")$")
		for _, value := range row.taken {
			if !pattern.MatchString(value) {
				t.Errorf("%s refuses %q", name, value)
			}
		}
		for _, value := range row.refused {
			if pattern.MatchString(value) {
				t.Errorf("%s takes %q", name, value)
			}
		}
	}
}

func TestPublisherAccountsFitAPolicy(t *testing.T) {
	pattern := regexp.MustCompile("^(" + fmt.Sprint(load(t).Parameters["PublisherAccounts"]["AllowedPattern"]) + ")$")
	accounts := func(n int) string { return strings.TrimSuffix(strings.Repeat("111122223333,", n), ",") }
	for n, want := range map[int]bool{0: true, 1: true, mostPrincipals: true, mostPrincipals + 1: false} {
		if pattern.MatchString(accounts(n)) != want {
			t.Errorf("%d accounts are allowed: %v", n, !want)
		}
	}
}
