package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// principal is AWS's view of the maker of a call.
type principal struct {
	role    string // logical id of a role of the stack
	arn     string // of any other; an AWS service has none
	account string // a service has none, or that for which it calls
	service bool
}

const iam = "arn:aws:iam::" + account + ":"

// The principals that may be behind a mapping's invocation, since AWS does not say which: Lambda itself, with this
// account or without one, an identity of an account of AWS's, a service-linked role. The fifth is the function's own
// role.
var (
	service  = principal{service: true}
	serving  = principal{service: true, account: account}
	internal = principal{arn: "arn:aws:iam::999988887777:role/poller", account: "999988887777"}
	linked   = principal{arn: iam + "role/aws-service-role/lambda.amazonaws.com/AWSServiceRoleForLambda", account: account}
)

// identities are the principals of the account: any may have AWSLambdaRole, which invokes every function, or may put
// events on every bus.
func identities(tpl template) []principal {
	all := []principal{
		{arn: iam + "root", account: account},
		{arn: iam + "user/mallory", account: account},
		{arn: iam + "role/with-AWSLambdaRole", account: account},
		{arn: iam + "role/aws-service-roles", account: account},
	}
	for role := range tpl.OfType("AWS::IAM::Role") {
		all = append(all, principal{role: role, account: account})
	}
	return all
}

// matches reports whether an ARN of a policy is the principal's.
func matches(t *testing.T, v any, p principal) bool {
	t.Helper()
	if role := target(v); role != "" {
		return role == p.role
	}
	sub, _ := v.(object)["Fn::Sub"].(string)
	whole := strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::AccountId}", account).Replace(sub)
	start, ok := strings.CutSuffix(whole, "*")
	if !ok {
		t.Fatalf("%v is neither a role of the stack nor the beginning of an ARN", v)
	}
	return strings.HasPrefix(p.arn, start)
}

// denies reports whether the condition of a Deny statement holds for a principal. It fails for operators and keys that
// it does not know. A negated operator holds where the key is missing, any other does not.
func denies(t *testing.T, condition object, p principal) bool {
	t.Helper()
	for operator, keys := range condition {
		for key, values := range keys.(object) {
			switch operator + " " + key {
			case "ArnNotEquals aws:PrincipalArn", "ArnNotLike aws:PrincipalArn":
				if slices.ContainsFunc(list(values), func(v any) bool { return matches(t, v, p) }) {
					return false
				}
			case "BoolIfExists aws:PrincipalIsAWSService":
				if p.service {
					return false
				}
			case "StringEquals aws:PrincipalAccount":
				if target(values) != "AWS::AccountId" || p.account != account {
					return false
				}
			default:
				t.Fatalf("no principal is known by %s %s", operator, key)
			}
		}
	}
	return true
}

func compare(t *testing.T, what string, want, got []principal) {
	t.Helper()
	byName := func(a, b principal) int { return strings.Compare(a.role+a.arn, b.role+b.arn) }
	slices.SortFunc(want, byName)
	slices.SortFunc(got, byName)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(principal{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Owners trust notices. The right to put events on every bus of the account must not count for this bus. EventBridge's
// own rules put no events there.
//
// Threat of the account: tells owners of trouble that there is not. Held by: the bus takes notices of `release` alone.
func TestNoticesComeFromReleaseAlone(t *testing.T) {
	tpl := load(t)
	var want, got []principal
	for role := range tpl.OfType("AWS::IAM::Role") {
		if may(tpl, role, asked{action: "events:PutEvents", resource: "NoticesBus"}) {
			want = append(want, principal{role: role, account: account})
		}
	}
	for _, p := range append(identities(tpl), service, internal, linked) {
		if !deniedOnTheBus(t, tpl, p) {
			got = append(got, p)
		}
	}
	if compare(t, "who puts notices on the bus", want, got); len(want) != 1 {
		t.Errorf("%v may, want release", want)
	}
}

func deniedOnTheBus(t *testing.T, tpl template, p principal) (denied bool) {
	t.Helper()
	for id, policy := range tpl.OfType("AWS::Events::EventBusPolicy") {
		s := at(policy.Properties, "Statement")
		applies := target(policy.Properties["EventBusName"]) == "NoticesBus" && target(s["Resource"]) == "NoticesBus" &&
			policy.All["Condition"] == "HasNotices"
		if !applies || s["Effect"] != "Deny" || s["Principal"] != "*" || s["Action"] != "events:PutEvents" {
			t.Fatalf("%s is not what this test knows: %v", id, policy.Properties)
		}
		denied = denied || denies(t, at(s, "Condition"), p)
	}
	return denied
}

// A function behind a queue trusts its messages. An identity with the right to invoke every function, and without the
// right to send to a queue, must not be able to pass messages to such a function.
//
// Threat of the account: has one signed by invoking a function behind a queue. Held by: [their
// policies](../decisions/0027-who-invokes-what-is-behind-queues.md) deny it, for aliases and versions as well.
func TestOnlyMappingsInvokeWhatIsBehindQueues(t *testing.T) {
	tpl := load(t)
	for _, name := range functionsOf(tpl) {
		mapped := len(mappingsOf(tpl.Resources[name+"Function"].Properties)) > 0
		policies := invocations(t, tpl, name)
		if !mapped && len(policies) > 0 {
			t.Errorf("%s is invoked by others than mappings, and AWS::Lambda::Permission overwrites its policy", name)
		}
		if !mapped {
			continue
		}
		var got []principal
		for _, p := range append(identities(tpl), service, serving, internal, linked) {
			if !slices.ContainsFunc(policies, func(condition object) bool { return denies(t, condition, p) }) {
				got = append(got, p)
			}
		}
		own := principal{role: name + "Role", account: account}
		compare(t, "who invokes "+name, []principal{service, serving, internal, linked, own}, got)
	}
}

// invocations are the conditions under which a function's policies deny invocations of it and of all its versions.
func invocations(t *testing.T, tpl template, name string) (conditions []object) {
	t.Helper()
	for id, policy := range tpl.OfType("AWS::Lambda::ResourcePolicy") {
		if target(policy.Properties["ResourceArn"]) != name+"Function" {
			continue
		}
		whole := []any{
			object{"Fn::GetAtt": []any{name + "Function", "Arn"}},
			object{"Fn::Sub": fmt.Sprintf("${%sFunction.Arn}:*", name)},
		}
		for _, s := range statements(policy.Properties["PolicyDocument"]) {
			if s["Effect"] != "Deny" || s["Principal"] != "*" || s["Action"] != "lambda:InvokeFunction" ||
				!cmp.Equal(whole, list(s["Resource"])) || policy.All["Condition"] != "HasFunctionPolicies" {
				t.Errorf("%s is not what this test knows: %v", id, s)
			}
			conditions = append(conditions, at(s, "Condition"))
		}
	}
	return conditions
}

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// underSCP says whether the document's service control policy lets a principal invoke a function, whatever else it may.
// AWS applies none to services and service-linked roles.
func underSCP(t *testing.T, principal, action, function string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "infra", "docs", "security.md"))
	block := jsonBlock.FindSubmatch(text)
	if err != nil || block == nil {
		t.Fatalf("no policy: %v", err)
	}
	var policy struct {
		Version   string
		Statement []any
	}
	if err := json.Unmarshal(block[1], &policy); err != nil || policy.Version != "2012-10-17" {
		t.Fatalf("%v: %+v", err, policy)
	}
	verdict, err := rights.Judge(rights.Call{
		Principal: principal, Action: action, Resource: "arn:aws-us-gov:lambda:us-gov-west-1:" + account + ":function:" +
			function, Account: account, Context: object{"aws:PrincipalArn": principal},
		Identity: append(policy.Statement, object{"Effect": "Allow", "Action": "lambda:*", "Resource": "*"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return verdict == rights.Allowed
}

// Where functions have no policies that deny, the document's service control policy does as much. It also keeps
// everybody but operators from the other functions.
func TestTheServiceControlPolicyDeniesWhatFunctionPoliciesDeny(t *testing.T) {
	tpl := load(t)
	role := func(name string) string { return "arn:aws-us-gov:iam::" + account + ":role/" + name }
	for _, name := range functionsOf(tpl) {
		function := "herald-prod-" + strings.ToLower(name)
		mapped := len(mappingsOf(tpl.Resources[name+"Function"].Properties)) > 0
		for _, action := range []string{"lambda:InvokeFunction", "lambda:InvokeAsync"} {
			for _, version := range []string{"", ":live", ":7"} {
				if underSCP(t, role("with-AWSLambdaRole"), action, function+version) {
					t.Errorf("a role with AWSLambdaRole may %s %s", action, function+version)
				}
				if underSCP(t, role("operators"), action, function+version) == mapped {
					t.Errorf("%s is behind a queue: %v, and operators may %s: %v", function, mapped, action, mapped)
				}
			}
		}
		own := role("herald-prod-" + name + "Role-1A2B3C")
		if mapped && !underSCP(t, own, "lambda:InvokeFunction", function) {
			t.Errorf("it denies %s, as which AWS may invoke %s for its mapping", own, name)
		}
	}
	for by, function := range map[string]string{
		"ReleaseRole-1A2B": "herald-prod-replay", "ReleaseScheduleRole-1A2B": "herald-prod-release",
	} {
		if !underSCP(t, role("herald-prod-"+by), "lambda:InvokeFunction", function) {
			t.Errorf("it denies %s, which invokes %s", by, function)
		}
	}
}
