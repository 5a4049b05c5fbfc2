package template

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

func statements(document any) (all []object) {
	o, _ := document.(object)
	for _, s := range list(o["Statement"]) {
		all = append(all, s.(object))
	}
	return all
}

func roleStatements(tpl template, role string) (all []object) {
	for _, p := range list(tpl.Resources[role].Properties["Policies"]) {
		all = append(all, statements(p.(object)["PolicyDocument"])...)
	}
	for _, p := range tpl.OfType("AWS::IAM::Policy") {
		if slices.ContainsFunc(list(p.Properties["Roles"]), func(r any) bool { return target(r) == role }) {
			all = append(all, statements(p.Properties["PolicyDocument"])...)
		}
	}
	return all
}

func TestEachFunctionHasItsOwnExplicitRole(t *testing.T) {
	tpl := load(t)
	for _, name := range functionsOf(tpl) {
		p := tpl.Resources[name+"Function"].Properties
		if got := target(p["Role"]); got != name+"Role" {
			t.Errorf("%s runs as %q", name, got)
		}
		for _, generated := range []string{"Policies", "Connectors"} {
			if p[generated] != nil {
				t.Errorf("%s has %s, which SAM turns into rights of its own choice", name, generated)
			}
		}
		trust := statements(tpl.Resources[name+"Role"].Properties["AssumeRolePolicyDocument"])
		if len(trust) != 1 || at(trust[0], "Principal")["Service"] != "lambda.amazonaws.com" {
			t.Errorf("%s's role is trusted to %v", name, trust)
		}
	}
}

// Every statement of a role or policy names its actions one by one and resources of this stack.
func TestNoWildcards(t *testing.T) {
	tpl := load(t)
	documents := map[string][]object{}
	for name := range tpl.OfType("AWS::IAM::Role") {
		documents[name] = roleStatements(tpl, name)
	}
	for name, r := range tpl.OfType("AWS::IAM::ManagedPolicy") {
		documents[name] = statements(r.Properties["PolicyDocument"])
	}
	delete(documents, "DeliverConnections") // Lambda's: TestDeliverAloneRunsInTheVPCThatIsGiven
	for name, all := range documents {
		if len(all) == 0 {
			t.Errorf("%s allows nothing", name)
		}
		for _, s := range all {
			for _, action := range list(s["Action"]) {
				if strings.ContainsAny(fmt.Sprint(action), "*?") {
					t.Errorf("%s: action %v", name, action)
				}
			}
			for _, r := range list(s["Resource"]) {
				if !ofThisStack(tpl, r) && !unbounded(s, r) {
					t.Errorf("%s: resource %v does not belong to this stack", name, r)
				}
			}
			if s["Effect"] != "Allow" || s["NotAction"] != nil || s["NotResource"] != nil {
				t.Errorf("%s: statement %v does not name what it allows", name, s["Sid"])
			}
			if len(list(s["Action"])) == 0 || len(list(s["Resource"])) == 0 {
				t.Errorf("%s: statement %v allows nothing", name, s["Sid"])
			}
		}
	}
}

// AWS takes a description at creation alone: with other words it makes another policy, which is attached to nobody.
func TestManagedPoliciesHaveNoDescription(t *testing.T) {
	for name, r := range load(t).OfType("AWS::IAM::ManagedPolicy") {
		if r.Properties["Description"] != nil {
			t.Errorf("%s has one", name)
		}
	}
}

// unbounded reports whether a statement is about an action that AWS bounds to no stack, with its narrowest resource. By
// AWS's service authorization reference, the other actions that Herald's policies name have resources.
func unbounded(s object, resource any) bool {
	switch fmt.Sprint(s["Action"]) {
	case "cloudwatch:GetMetricData":
		return resource == "*"
	case "cloudwatch:DescribeAlarmHistory": // the tool asks for all, and picks out the stack's
		o, _ := resource.(object)
		return o["Fn::Sub"] == "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"
	}
	return false
}

func ofThisStack(tpl template, r any) bool {
	if _, ok := tpl.Resources[target(r)]; ok {
		o := r.(object)
		sub, _ := o["Fn::Sub"].(string)
		return !strings.ContainsAny(sub, "*?")
	}
	// A stack's ARN ends with an id that the template cannot know. The name in the ARN identifies the stack.
	o, _ := r.(object)
	return o["Fn::Sub"] == "arn:${AWS::Partition}:cloudformation:${AWS::Region}:${AWS::AccountId}:"+
		"stack/${AWS::StackName}/*"
}

// onResource is the logical id of a statement's resource. If the statement names an index or a log stream, the id is
// followed by that.
func onResource(r any) string {
	o, _ := r.(object)
	sub, _ := o["Fn::Sub"].(string)
	if _, index, ok := strings.Cut(sub, ".Arn}/index/"); ok {
		return target(r) + "/" + index
	}
	if stream := logStream.FindStringSubmatch(sub); stream != nil {
		return stream[1] + "/" + stream[2]
	}
	return target(r)
}

// An operator who issues keys or imports endpoints can get at a tenant's events, so not all operators may do that. The
// rights to delete for good, to send again, and to see all tenants' subscriptions are separate, and release has none of
// them but the second.
func TestWhoMayInvokeWhat(t *testing.T) {
	got, tpl := map[string][]string{}, load(t)
	may := func(name string, policy any) {
		for _, s := range statements(policy) {
			for _, resource := range list(s["Resource"]) {
				if s["Effect"] == "Allow" && invokes(s) {
					got[name] = append(got[name], withAlias(resource))
				}
			}
		}
	}
	for _, kind := range []string{"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"} {
		for name, r := range tpl.OfType(kind) {
			may(name, r.Properties["PolicyDocument"])
		}
	}
	for name, r := range tpl.OfType("AWS::IAM::Role") {
		for _, p := range list(r.Properties["Policies"]) {
			may(name, p.(object)["PolicyDocument"])
		}
	}
	want := map[string][]string{
		"Deleters":            {"ReplayFunction:delete"},
		"InstanceManagers":    {"InspectFunction", "ReplayFunction", "ControlFunction", "ApikeysFunction:revoke"},
		"KeyIssuers":          {"ApikeysFunction", "WebhooksFunction", "ApikeysFunction:revoke"},
		"ReleaseRole":         {"ReplayFunction"},
		"ReleaseScheduleRole": {"ReleaseFunction"},
		"SubscriptionReaders": {"InspectFunction:scan"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who may invoke what (-want +got):\n%s", diff)
	}
	for id, of := range map[string][2]string{
		"ReplayDelete": {"ReplayFunction", invoke.ForGood}, "InspectScan": {"InspectFunction", invoke.Scan},
		"ApikeysRevoke": {"ApikeysFunction", invoke.Revoke},
	} {
		alias := tpl.OfType("AWS::Lambda::Alias")[id].Properties
		if target(alias["FunctionName"]) != of[0] || alias["Name"] != of[1] {
			t.Errorf("the alias is %v, want %s of %s", alias, of[1], of[0])
		}
	}
}

// Operators alone need the events of the stack, which have the properties of all its resources.
func TestOperatorsAloneMayReadDeployments(t *testing.T) {
	tpl := load(t)
	const events = "cloudformation:DescribeStackEvents"
	for name, r := range tpl.OfType("AWS::IAM::ManagedPolicy") {
		var over []any
		for _, s := range statements(r.Properties["PolicyDocument"]) {
			if slices.Contains(list(s["Action"]), any(events)) {
				over = append(over, list(s["Resource"])...)
			}
		}
		want := map[string]int{"InstanceManagers": 1}[name]
		if len(over) != want || slices.ContainsFunc(over, func(r any) bool { return !ofThisStack(tpl, r) }) {
			t.Errorf("%s may do %s on %v", name, events, over)
		}
	}
}

// invokes reports whether a statement is about invoking functions, all that it does not name included.
func invokes(s object) bool {
	return s["NotAction"] != nil || slices.ContainsFunc(list(s["Action"]), func(action any) bool {
		matched, err := path.Match(strings.ToLower(fmt.Sprint(action)), "lambda:invokefunction")
		return err != nil || matched
	})
}

// withAlias is a function with its alias, if a policy names one.
func withAlias(resource any) string {
	o, _ := resource.(object)
	sub, _ := o["Fn::Sub"].(string)
	_, alias, _ := strings.Cut(sub, ".Arn}")
	return target(resource) + alias
}
