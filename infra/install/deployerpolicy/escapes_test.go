package deployerpolicy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// attempt is a call of the bounded deployer.
type attempt struct {
	what, action string
	on           string // a resource, as arnOf completes it
	having       string // key=value of a condition
}

const (
	bounded   = "iam:PermissionsBoundary=arn:aws:iam" + global + "policy/my-boundary"
	unbounded = "iam:PermissionsBoundary=arn:aws:iam::aws:policy/AdministratorAccess"
	ours      = "aws:ResourceTag/herald:stage=prod"
	deliver   = "lambda:FunctionArn=arn:aws:lambda" + here + "function:herald-prod-deliver:live"
	payroll   = "lambda:FunctionArn=arn:aws:lambda" + here + "function:payroll"
	scaling   = "role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/x"
	publisher = "policy/herald-prod-EventPublishers-1"
)

// escapes are ways to a right that the boundary does not have, for the deployer itself or for an identity that the
// deployer does not bound.
var escapes = []attempt{
	{"other text for a policy that others have", "iam:CreatePolicyVersion", publisher, ""},
	{"its older text", "iam:SetDefaultPolicyVersion", publisher, ""},
	{"other text for the boundary", "iam:CreatePolicyVersion", "policy/my-boundary", ""},
	{"a role without a boundary", "iam:CreateRole", "role/herald-x", ""},
	{"a role with another boundary", "iam:CreateRole", "role/herald-x", unbounded},
	{"another boundary for a role", "iam:PutRolePermissionsBoundary", "role/herald-x", unbounded},
	{"no boundary any more", "iam:DeleteRolePermissionsBoundary", "role/herald-x", bounded},
	{"rights of an unbounded role", "iam:PutRolePolicy", "role/herald-old", ""},
	{"a policy of an unbounded role", "iam:AttachRolePolicy", "role/herald-old", ""},
	{"who is an unbounded role", "iam:UpdateAssumeRolePolicy", "role/herald-old", ""},
	{"who is another's role", "iam:UpdateAssumeRolePolicy", "role/admin", bounded},
	{"its own rights", "iam:PutRolePolicy", "role/deploys-herald", bounded},
	{"another's role for a function", "iam:PassRole", "role/admin", "iam:PassedToService=lambda.amazonaws.com"},
	{"a role for a stack", "iam:PassRole", "role/herald-x", "iam:PassedToService=cloudformation.amazonaws.com"},
	{"a role of AWS's", "iam:CreateServiceLinkedRole", "role/aws-service-role/ecs.amazonaws.com/x",
		"iam:AWSServiceName=ecs.amazonaws.com"},
	{"to be a role", "sts:AssumeRole", "role/herald-x", ""},
	{"a user", "iam:CreateUser", "user/herald-x", ""},
	{"the policy of another's key", "kms:PutKeyPolicy", "1", ""},
	{"that of another stage", "kms:PutKeyPolicy", "1", "aws:ResourceTag/herald:stage=staging"},
	{"another's key for its own", "kms:TagResource", "1", "aws:RequestTag/herald:stage=prod"},
	{"the end of another's key", "kms:ScheduleKeyDeletion", "1", ""},
	{"another's key off", "kms:DisableKey", "1", ""},
	{"a grant", "kms:CreateGrant", "1", ours},
	{"the code of another's function", "lambda:UpdateFunctionCode", "function:payroll", ""},
	{"its layer", "lambda:UpdateFunctionConfiguration", "function:payroll", ""},
	{"a layer for others", "lambda:AddLayerVersionPermission", "layer:herald-x:1", ""},
	{"who invokes another's function", "lambda:AddPermission", "function:payroll", ""},
	{"its policy", "lambda:PutResourcePolicy", "function:payroll", ""},
	{"a queue for another's function", "lambda:CreateEventSourceMapping", "*", payroll},
	{"another queue for it", "lambda:UpdateEventSourceMapping", "event-source-mapping:1", payroll},
	{"an answer of a function", "lambda:InvokeFunction", "function:herald-prod-apikeys", ""},
	{"the policy of another's queue", "sqs:SetQueueAttributes", "payroll", ""},
	{"the policy of a table", "dynamodb:PutResourcePolicy", "table/herald-prod-Endpoints-1", ""},
	{"the account's bus for others", "events:PutPermission", "*", ""},
	{"another's stack, with its role", "cloudformation:UpdateStack", "stack/payroll/1", ""},
	{"another's change set", "cloudformation:DescribeEvents", "changeSet/payroll/1", ""},
	{"a way into a private network", "apigateway:POST", "/vpclinks", ""},
	{"the policy of the code's bucket", "s3:PutBucketPolicy", "my-bucket", ""},
}

// work is what the bounded deployer needs. Each row is next to an escape.
var work = []attempt{
	{"a policy, which is read before it is attached", "iam:CreatePolicy", publisher, ""},
	{"a bounded role", "iam:CreateRole", "role/herald-prod-DeliverRole-1", bounded},
	{"its rights", "iam:PutRolePolicy", "role/herald-prod-DeliverRole-1", bounded},
	{"its policy", "iam:AttachRolePolicy", "role/herald-prod-DeliverRole-1", bounded},
	{"its boundary", "iam:PutRolePermissionsBoundary", "role/herald-prod-DeliverRole-1", bounded},
	{"who is it", "iam:UpdateAssumeRolePolicy", "role/herald-prod-DeliverRole-1", bounded},
	{"it for a function", "iam:PassRole", "role/herald-prod-DeliverRole-1", "iam:PassedToService=lambda.amazonaws.com"},
	{"the role that scales tables", "iam:CreateServiceLinkedRole", scaling,
		"iam:AWSServiceName=dynamodb.application-autoscaling.amazonaws.com"},
	{"a key", "kms:CreateKey", "*", "aws:RequestTag/herald:stage=prod"},
	{"its tag, as it is made", "kms:TagResource", "1", ours},
	{"its policy", "kms:PutKeyPolicy", "1", ours},
	{"its end", "kms:ScheduleKeyDeletion", "1", ours},
	{"the code of a function", "lambda:UpdateFunctionCode", "function:herald-prod-deliver", ""},
	{"its policy", "lambda:PutResourcePolicy", "function:herald-prod-deliver", ""},
	{"its queue", "lambda:CreateEventSourceMapping", "*", deliver},
	{"how it is polled", "lambda:UpdateEventSourceMapping", "event-source-mapping:1", deliver},
	{"the policy of a queue", "sqs:SetQueueAttributes", "herald-prod-events", ""},
	{"a domain of its API", "apigateway:POST", "/domainnames", ""},
	{"an update", "cloudformation:UpdateStack", "stack/herald-prod/1", ""},
	{"what a change set met", "cloudformation:DescribeEvents", "changeSet/awscli-cloudformation-package-deploy-1/1", ""},
}

// arnOf is the whole ARN of an attempt's resource.
func (a attempt) arnOf() string {
	service, _, _ := strings.Cut(a.action, ":")
	switch {
	case a.on == "*":
		return a.on
	case service == "iam" || service == "sts":
		return "arn:aws:iam" + global + a.on
	case service == "kms":
		return "arn:aws:kms" + here + "key/" + a.on
	case service == "apigateway":
		return "arn:aws:apigateway:eu-central-1::" + a.on
	case service == "s3":
		return "arn:aws:s3:::" + a.on
	}
	return "arn:aws:" + service + here + a.on
}

// statementsOf are those of a policy of the documents.
func statementsOf(t *testing.T, file string) (all []any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", file))
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Statement []any }
	if err := json.Unmarshal(text, &p); err != nil || len(p.Statement) == 0 {
		t.Fatalf("%s has %d statements: %v", file, len(p.Statement), err)
	}
	return p.Statement
}

// by is the call of a deployer with these policies. The policy of most keys leaves to IAM what it does not say.
func (a attempt) by(identity []any) rights.Call {
	call := rights.Call{
		Principal: "arn:aws:iam" + global + "role/deploys-herald", Action: a.action, Resource: a.arnOf(),
		Account: "111122223333", Context: map[string]any{}, Identity: identity,
	}
	if key, value, has := strings.Cut(a.having, "="); has {
		call.Context[key] = value
	}
	if strings.Contains(call.Resource, ":key/") {
		root := map[string]any{"AWS": "arn:aws:iam" + global + "root"}
		call.ResourcePolicy = map[string]any{"Version": "2012-10-17", "Statement": []any{
			map[string]any{"Effect": "Allow", "Principal": root, "Action": "kms:*", "Resource": "*"},
		}}
	}
	return call
}

// ofARole is a call by a role that the deployer has made and given every right. Only a boundary limits the role.
func ofARole() rights.Call {
	return rights.Call{
		Principal: "arn:aws:iam" + global + "role/herald-x", Action: "iam:CreatePolicyVersion",
		Resource: "arn:aws:iam" + global + publisher, Account: "111122223333",
		Identity: []any{map[string]any{"Effect": "Allow", "Action": "*", "Resource": "*"}},
		Boundary: []any{map[string]any{"Effect": "Allow", "Resource": "*", "Action": []any{"dynamodb:*", "sqs:*"}}},
	}
}

func judge(t *testing.T, call rights.Call) string {
	t.Helper()
	verdict, err := rights.Judge(call)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// Threat of the account: takes over the account by the deployer's role. Held by: a boundary and [a second
// policy](deploy.md#the-deployers-rights) deny all known ways; no others may be named `herald-…`.
func TestABoundedDeployerHasNoWayOut(t *testing.T) {
	identity := append(statementsOf(t, File), statementsOf(t, Bounds)...)
	for _, a := range escapes {
		if verdict := judge(t, a.by(identity)); verdict == rights.Allowed {
			t.Errorf("%s, by %s on %s", a.what, a.action, a.on)
		}
	}
	for _, a := range work {
		if verdict := judge(t, a.by(identity)); verdict != rights.Allowed {
			t.Errorf("%s, by %s on %s: %s", a.what, a.action, a.on, verdict)
		}
	}
	if verdict := judge(t, ofARole()); verdict != rights.Implicitly {
		t.Errorf("a bounded role: %s", verdict)
	}
}

// Each statement of the bounds closes an escape that nothing else closes.
func TestEachStatementOfTheBoundsIsNeeded(t *testing.T) {
	bounds := statementsOf(t, Bounds)
	for i, missing := range bounds {
		identity := append(statementsOf(t, File), slices.Delete(slices.Clone(bounds), i, i+1)...)
		if !slices.ContainsFunc(escapes, func(a attempt) bool { return judge(t, a.by(identity)) == rights.Allowed }) {
			t.Errorf("without %v nothing is open", missing)
		}
	}
}

// IAM takes so many characters as a managed policy, and counts no white space.
func TestTheBoundsFitAManagedPolicy(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("../../..", Bounds))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Join(strings.Fields(string(text)), "")); n > 6_144 {
		t.Errorf("they have %d characters", n)
	}
}
