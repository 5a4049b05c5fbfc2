//go:build emulator

package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// deployment is the template as CloudFormation deploys it, with the values of its parameters.
type deployment struct {
	template
	settings
}

// judge turns a function's call into the input of IAM's decision.
func (d deployment) judge(function string, a asked) rights.Call {
	role := function + "Role"
	context := object{
		"aws:PrincipalArn": arn(d.template, role), "aws:PrincipalIsAWSService": "false", "aws:SecureTransport": "true",
	}
	set := func(key string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			context[key] = values
		}
	}
	set("dynamodb:Attributes", strings.Fields(a.attributes)...)
	set("dynamodb:LeadingKeys", strings.Fields(a.tenants)...)
	if a.answer != "" {
		key := "dynamodb:ReturnValues"
		if reads.MatchString(a.action) {
			key = "dynamodb:Select"
		}
		context[key] = a.answer
	}
	id, part, _ := strings.Cut(a.resource, "/")
	resource := arn(d.template, id)
	switch {
	case part == "":
	case strings.HasPrefix(a.action, "logs:"):
		resource = strings.TrimSuffix(resource, "*") + "log-stream:" + part
	default:
		resource += "/index/" + part
	}
	return rights.Call{
		Principal: arn(d.template, role), Action: a.action, Resource: resource, Account: account, Context: context,
		Identity: d.named(d.template, anys(roleStatements(d.template, role))), ResourcePolicy: d.policyOf(id),
	}
}

// policyOf is the policy of a key, queue or bus, or nil.
func (d deployment) policyOf(id string) any {
	if policy := d.Resources[id].Properties["KeyPolicy"]; policy != nil {
		return without(unknownKey, d.named(d.template, policy))
	}
	for _, r := range d.OfType("AWS::SQS::QueuePolicy") {
		if slices.ContainsFunc(list(r.Properties["Queues"]), func(q any) bool { return target(q) == id }) {
			return d.named(d.template, r.Properties["PolicyDocument"])
		}
	}
	for _, r := range d.OfType("AWS::Events::EventBus") {
		if policy := r.Properties["Policy"]; policy != nil && id == "NoticesBus" {
			return d.named(d.template, policy)
		}
	}
	return nil
}

// without removes a condition key from a policy.
func without(key string, v any) any {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = without(key, item)
		}
	case object:
		delete(v, key)
		for name, item := range v {
			if rest, ok := without(key, item).(object); ok && len(rest) == 0 {
				delete(v, name)
			}
		}
	}
	return v
}

// evaluate asks the other evaluator. A call that it refuses to judge is a fault of the test.
func evaluate(t *testing.T, all []rights.Call) []string {
	t.Helper()
	results, err := rights.SecondOpinion(t.Context(), root, all)
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range results {
		if !strings.HasSuffix(result, "llowed") && !strings.HasSuffix(result, "Denied") {
			t.Fatalf("%s on %s with %v: %s", all[i].Action, all[i].Resource, all[i].Context, result)
		}
	}
	return results
}

// mutants are variants of a call, each of which reaches for more than the call does.
func mutants(tpl template, a asked) map[string]asked {
	all := map[string]asked{}
	change := func(name string, alter func(*asked)) {
		mutant := a
		alter(&mutant)
		if mutant != a {
			all[name] = mutant
		}
	}
	table, _, _ := strings.Cut(a.resource, "/")
	if reads.MatchString(a.action) {
		change("everything", func(m *asked) { m.answer = "ALL_ATTRIBUTES" })
	}
	if a.action == "dynamodb:UpdateItem" {
		change("everything", func(m *asked) { m.answer = "ALL_NEW" })
	}
	if table == "Endpoints" && a.attributes != "" {
		change("sealed secret", func(m *asked) { m.attributes = with(a.attributes, "sealed_secret") })
	}
	if table == "Endpoints" && a.tenants != "" && a.action != "dynamodb:BatchWriteItem" {
		change("operators' marks", func(m *asked) { m.tenants = "marks#acme" })
		change("an endpoint", func(m *asked) { m.tenants = "acme" })
	}
	if table == "Deliveries" && a.tenants != "" {
		change("a delivery's record", func(m *asked) { m.tenants = "msg_1" })
	}
	if table == "EndpointHealth" && a.action == "dynamodb:GetItem" {
		change("a tenant's health", func(m *asked) { m.tenants = "tenant#" })
		change("the last answer", func(m *asked) { m.attributes = with(a.attributes, "last") })
	}
	if strings.HasPrefix(a.action, "dynamodb:") && table == a.resource {
		for other := range tpl.OfType("AWS::DynamoDB::Table") {
			change("table "+other, func(m *asked) { m.resource = other })
		}
	}
	if strings.HasPrefix(a.action, "sqs:") {
		for other := range tpl.OfType("AWS::SQS::Queue") {
			change(other, func(m *asked) { m.resource = other })
		}
	}
	if strings.HasPrefix(a.action, "kms:") {
		change("another purpose", func(m *asked) { m.purpose = "another" })
		for _, other := range []string{"DeadLetterKey", "SecretsKey"} {
			change(other, func(m *asked) { m.resource = other })
		}
	}
	if a.action == "logs:PutLogEvents" {
		change("another's lines", func(m *asked) { m.resource = "AuditLogs/another" })
	}
	return all
}

func with(attributes, more string) string {
	all := append(strings.Fields(attributes), more)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// allowedReaches are the mutants that both evaluators allow: the function needs the right for another call, or IAM
// cannot tell the two apart.
var allowedReaches = map[string]bool{
	"Control dynamodb:GetItem EndpointHealth: a tenant's health": true,
	"Control dynamodb:GetItem EndpointHealth: the last answer":   true,
	"Control dynamodb:GetItem Endpoints: an endpoint":            true,
	"Control dynamodb:GetItem Endpoints: operators' marks":       true,
	"Control dynamodb:PutItem Endpoints: sealed secret":          true,
	"Control dynamodb:Query Endpoints: operators' marks":         true,
	"Deadletter dynamodb:UpdateItem DeadLetters: everything":     true,
	"Deliver dynamodb:BatchGetItem Endpoints: an endpoint":       true,
	"Deliver dynamodb:BatchGetItem Endpoints: operators' marks":  true,
	"Deliver dynamodb:BatchGetItem Endpoints: sealed secret":     true,
	"Fanout dynamodb:Query Endpoints: an endpoint":               true,
	"Inspect dynamodb:BatchGetItem Endpoints: an endpoint":       true,
	"Inspect dynamodb:BatchGetItem Endpoints: operators' marks":  true,
	"Inspect dynamodb:GetItem EndpointHealth: a tenant's health": true,
	"Inspect dynamodb:GetItem EndpointHealth: the last answer":   true,
	"Inspect dynamodb:GetItem Endpoints: an endpoint":            true,
	"Inspect dynamodb:GetItem Endpoints: operators' marks":       true,
	"Inspect dynamodb:Query Backlog/by-due: everything":          true,
	"Inspect dynamodb:Query DeadLetters/by-status: everything":   true,
	"Inspect dynamodb:Query DeadLetters/by-tenant: everything":   true,
	"Inspect dynamodb:Query Endpoints: operators' marks":         true,
	"Release dynamodb:GetItem Endpoints: an endpoint":            true,
	"Release dynamodb:BatchGetItem Endpoints: an endpoint":       true,
	"Release dynamodb:BatchGetItem Endpoints: operators' marks":  true,
	"Release dynamodb:UpdateItem Backlog: everything":            true,
	"Release dynamodb:UpdateItem EndpointHealth: everything":     true,
	"Replay dynamodb:DeleteItem Deliveries: a delivery's record": true,
	"Replay dynamodb:DeleteItem Endpoints: an endpoint":          true,
	"Replay dynamodb:DeleteItem Endpoints: operators' marks":     true,
	"Replay dynamodb:DeleteItem Endpoints: sealed secret":        true,
	"Replay dynamodb:GetItem Endpoints: an endpoint":             true,
	"Replay dynamodb:Query DeadLetters/by-tenant: everything":    true,
	"Replay dynamodb:Query Endpoints: an endpoint":               true,
	"Replay dynamodb:Query Endpoints: operators' marks":          true,
	"Replay dynamodb:Query Jobs: everything":                     true,
	"Replay dynamodb:Scan Jobs: everything":                      true,
	"Replay dynamodb:UpdateItem DeadLetters: everything":         true,
	"Replay dynamodb:UpdateItem Jobs: everything":                true,
	"Webhooks dynamodb:DeleteItem Endpoints: sealed secret":      true,
	"Webhooks dynamodb:GetItem Endpoints: an endpoint":           true,
	"Webhooks dynamodb:GetItem Endpoints: everything":            true,
	"Webhooks dynamodb:GetItem Endpoints: sealed secret":         true,
	"Webhooks dynamodb:Query Endpoints: everything":              true,
	"Webhooks dynamodb:PutItem Endpoints: sealed secret":         true,
	"Webhooks dynamodb:Query Endpoints: sealed secret":           true,
	"Webhooks dynamodb:UpdateItem Endpoints: everything":         true,
	"Webhooks dynamodb:UpdateItem Endpoints: sealed secret":      true,
}

// unknownKey is a condition key that the other evaluator ignores. It gets policies and calls without the key. Mutants
// of the key are judged by our evaluator alone, and TestOnlyTheirRolesUseTheKeys checks the purposes that each role may
// name.
const unknownKey = "kms:EncryptionContext:purpose"

// confirmed has both evaluators judge the calls that were made, and mutants of these calls. The calls must be allowed.
// The mutants must be refused, except those that are calls of the function, too.
func (c *calls) confirmed(t *testing.T, d deployment) {
	t.Helper()
	var all []rights.Call
	var said []string
	var wanted []bool
	reached := map[string]bool{}
	ignored := 0
	for _, function := range functionsOf(load(t)) {
		made := c.all[strings.ToLower(function)]
		for _, a := range slices.SortedFunc(maps.Keys(made), compareCalls) {
			all, wanted = append(all, d.judge(function, a)), append(wanted, true)
			said = append(said, fmt.Sprintf("%s: %+v", function, a))
			for name, m := range mutants(d.template, a) {
				allowed := may(d.template, function+"Role", m)
				if allowed && (m.resource == a.resource || !does(made, m)) {
					reached[function+" "+a.action+" "+a.resource+": "+name] = true
				}
				if m.purpose != a.purpose {
					ignored++
					if allowed {
						t.Errorf("%s may use %s for another purpose", function, a.resource)
					}
					continue
				}
				all, wanted = append(all, d.judge(function, m)), append(wanted, allowed)
				said = append(said, fmt.Sprintf("%s reaches for %s: %+v", function, name, m))
			}
		}
	}
	for i, result := range evaluate(t, all) {
		if (result == "Allowed") != wanted[i] {
			t.Errorf("ours says %v, the other %s: %s", wanted[i], result, said[i])
		}
	}
	if diff := cmp.Diff(allowedReaches, reached); diff != "" {
		t.Errorf("mutants that are allowed (-want +got):\n%s", diff)
	}
	t.Logf("two evaluators agree on %d calls and mutants; %d more are of the key %s, which the second ignores",
		len(all), ignored, unknownKey)
}

// does says whether the function makes a call of this action to this resource.
func does(made map[asked]bool, m asked) bool {
	for a := range made {
		if a.action == m.action && a.resource == m.resource {
			return true
		}
	}
	return false
}

func compareCalls(a, b asked) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
