//go:build emulator

package template

import (
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// personsCall is an invocation of a function by its name, or by one of its aliases or versions.
type personsCall struct{ policy, function, alias string }

// The function apikeys issues keys unless it is invoked by its alias revoke. So an operator who could invoke it by any
// other name would act as any tenant. Two evaluators have to agree.
func TestOperatorsInvokeApikeysByItsAliasAlone(t *testing.T) {
	tpl := load(t)
	d := deployment{tpl, configurations(t, tpl)["default"]}
	d.template = translatedWith(t, d.settings)
	want := map[personsCall]bool{}
	for _, name := range []string{"", "revoke", "revoke2", "delete", "scan", "$LATEST", "1"} {
		for policy, allowed := range map[string][]string{
			"InstanceManagers": {"revoke"}, "KeyIssuers": {"", "revoke"}, "Deleters": nil, "SubscriptionReaders": nil,
		} {
			want[personsCall{policy, "ApikeysFunction", name}] = slices.Contains(allowed, name)
		}
	}
	for _, call := range []personsCall{
		{"InstanceManagers", "InspectFunction", ""}, {"InstanceManagers", "ControlFunction", ""},
		{"InstanceManagers", "ReplayFunction", ""}, {"Deleters", "ReplayFunction", "delete"},
		{"SubscriptionReaders", "InspectFunction", "scan"}, {"KeyIssuers", "WebhooksFunction", ""},
	} {
		want[call] = true
	}
	var all []personsCall
	var calls []rights.Call
	for call := range want {
		resource := arn(d.template, call.function)
		if call.alias != "" {
			resource += ":" + call.alias
		}
		all = append(all, call)
		calls = append(calls, rights.Call{
			Principal: iam + "role/person", Action: "lambda:InvokeFunction", Resource: resource, Account: account,
			Context:  object{"aws:SecureTransport": "true"},
			Identity: d.named(d.template, d.Resources[call.policy].Properties["PolicyDocument"].(object)["Statement"]),
		})
	}
	for i, second := range evaluate(t, calls) {
		first, err := rights.Judge(calls[i])
		if err != nil || first != second || (first == rights.Allowed) != want[all[i]] {
			t.Errorf("%+v: ours says %s (%v), the other %s", all[i], first, err, second)
		}
	}
}
