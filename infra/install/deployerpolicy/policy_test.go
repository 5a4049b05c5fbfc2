package deployerpolicy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

func TestWrite_leavesOutWhatNoPropertyNeeds(t *testing.T) {
	got := write(map[string][]string{
		"AWS::A::A": {"dynamodb:CreateTable", "dynamodb:GetItem", "iam:CreateRole", "iam:PassRole", "iam:PutUserPolicy"},
		"AWS::B::B": {"dynamodb:CreateTable", "kms:GenerateDataKeyWithoutPlaintext", "iam:ListRoles"},
	}, map[string]bool{"dynamodb:CreateTable": true, "iam:CreateRole": true})
	want := []statement{
		{"Dynamodb", "Allow", []string{"dynamodb:CreateTable"}, []string{"arn:aws:dynamodb:*:*:table/herald-*"}, nil},
		{"Iam", "Allow", []string{"iam:CreateRole"}, patterns("iam"), nil},
		{"Others", "Allow", []string{"iam:ListRoles"}, []string{"*"}, nil},
	}
	if diff := cmp.Diff(want, got.Statement[len(apart()):]); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// committed is the policy as it stands in the documents.
func committed(t *testing.T) policy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", File))
	if err != nil {
		t.Fatal(err)
	}
	var p policy
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// allows says whether a statement allows an action on a resource, conditions aside.
func (p policy) allows(action, arn string) bool {
	return slices.ContainsFunc(p.Statement, func(s statement) bool {
		return slices.Contains(s.Action, action) &&
			slices.ContainsFunc(s.Resource, func(pattern string) bool { return covers(pattern, arn) })
	})
}

const (
	here   = ":eu-central-1:111122223333:"
	global = "::111122223333:"
)

// A caller that may change the code of a function has the function's role. A caller that may write a resource's policy
// has the resource.
func TestThePolicyReachesNoResourceOfOthers(t *testing.T) {
	p := committed(t)
	for action, arn := range map[string]string{
		"cloudformation:DeleteStack":         "arn:aws:cloudformation" + here + "stack/payroll/1",
		"cloudwatch:DeleteAlarms":            "arn:aws:cloudwatch" + here + "alarm:payroll",
		"cloudwatch:PutDashboard":            "arn:aws:cloudwatch" + global + "dashboard/payroll",
		"dynamodb:DeleteTable":               "arn:aws:dynamodb" + here + "table/payroll",
		"dynamodb:PutResourcePolicy":         "arn:aws:dynamodb" + here + "table/herald-prod-Endpoints-1",
		"dynamodb:GetItem":                   "arn:aws:dynamodb" + here + "table/herald-prod-Endpoints-1",
		"events:DeleteEventBus":              "arn:aws:events" + here + "event-bus/default",
		"iam:AttachRolePolicy":               "arn:aws:iam" + global + "role/deploys-herald",
		"iam:CreatePolicyVersion":            "arn:aws:iam" + global + "policy/payroll",
		"iam:PassRole":                       "arn:aws:iam" + global + "role/admin",
		"iam:PutRolePolicy":                  "arn:aws:iam" + global + "role/admin",
		"iam:UpdateAssumeRolePolicy":         "arn:aws:iam" + global + "role/admin",
		"kms:CreateGrant":                    "arn:aws:kms" + here + "key/1",
		"kms:Decrypt":                        "arn:aws:kms" + here + "key/1",
		"kms:UpdateAlias":                    "arn:aws:kms" + here + "alias/payroll",
		"lambda:AddPermission":               "arn:aws:lambda" + here + "function:payroll",
		"lambda:GetFunction":                 "arn:aws:lambda" + here + "function:payroll",
		"lambda:UpdateFunctionCode":          "arn:aws:lambda" + here + "function:payroll",
		"lambda:UpdateFunctionConfiguration": "arn:aws:lambda" + here + "function:payroll",
		"logs:DeleteLogGroup":                "arn:aws:logs" + here + "log-group:/aws/lambda/payroll:*",
		"logs:PutRetentionPolicy":            "arn:aws:logs" + here + "log-group:payroll:*",
		"s3:PutObject":                       "arn:aws:s3:::payroll/1",
		"sqs:SetQueueAttributes":             "arn:aws:sqs" + here + "payroll",
	} {
		if p.allows(action, arn) {
			t.Errorf("the deployer may %s on %s", action, arn)
		}
	}
}

// An update that failed has to be rolled back, and a stack deleted, by the same identity.
func TestThePolicyReachesTheStacksOwn(t *testing.T) {
	p := committed(t)
	for action, arn := range map[string]string{
		"cloudformation:CancelUpdateStack":      "arn:aws:cloudformation" + here + "stack/herald-prod/1",
		"cloudformation:ContinueUpdateRollback": "arn:aws:cloudformation" + here + "stack/herald-prod/1",
		"cloudformation:DeleteStack":            "arn:aws:cloudformation" + here + "stack/herald-verify/1",
		"cloudformation:RollbackStack":          "arn:aws:cloudformation" + here + "stack/herald-prod/1",
		"cloudwatch:PutMetricAlarm":             "arn:aws:cloudwatch" + here + "alarm:herald-prod-DeathsAlarm-1",
		"cloudwatch:DeleteAlarms":               "arn:aws:cloudwatch" + here + "alarm:TargetTracking-table/herald-prod",
		"logs:UpdateLogDelivery":                "*",
		"dynamodb:UpdateTable":                  "arn:aws:dynamodb" + here + "table/herald-prod-Endpoints-1",
		"dynamodb:UpdateContributorInsights":    "arn:aws:dynamodb" + here + "table/herald-prod-Endpoints-1/index/x",
		"iam:PassRole":                          "arn:aws:iam" + global + "role/herald-prod-DeliverRole-1",
		"iam:CreatePolicy":                      "arn:aws:iam" + global + "policy/herald-prod-Deleters-1",
		"kms:CreateKey":                         "*",
		"kms:CreateAlias":                       "arn:aws:kms" + here + "key/1",
		"kms:DeleteAlias":                       "arn:aws:kms" + here + "alias/herald-prod-dead-letters",
		"kms:PutKeyPolicy":                      "arn:aws:kms" + here + "key/1",
		"lambda:CreateEventSourceMapping":       "*",
		"lambda:DeleteEventSourceMapping":       "arn:aws:lambda" + here + "event-source-mapping:1",
		"lambda:UpdateAlias":                    "arn:aws:lambda" + here + "function:herald-prod-deliver:live",
		"lambda:UpdateFunctionCode":             "arn:aws:lambda" + here + "function:herald-prod-deliver",
		"logs:PutRetentionPolicy":               "arn:aws:logs" + here + "log-group:/aws/vendedlogs/herald-prod-api:*",
		"logs:DeleteLogGroup":                   "arn:aws:logs" + here + "log-group:herald-prod-AuditLogs-1:*",
		"sqs:SetQueueAttributes":                "arn:aws:sqs" + here + "herald-prod-events",
	} {
		if !p.allows(action, arn) {
			t.Errorf("the deployer may not %s on %s", action, arn)
		}
	}
}

// Each action of the bounds is one that the policy allows, by its name as IAM knows it. Nothing allows
// iam:SetDefaultPolicyVersion, which does what iam:CreatePolicyVersion does.
func TestTheBoundsAreAboutThePolicysActions(t *testing.T) {
	p := committed(t)
	for _, s := range statementsOf(t, Bounds) {
		for _, action := range cfn.List(cfn.At(map[string]any{"s": s}, "s")["Action"]) {
			named := func(s statement) bool { return slices.Contains(s.Action, fmt.Sprint(action)) }
			if !slices.ContainsFunc(p.Statement, named) && action != "iam:SetDefaultPolicyVersion" {
				t.Errorf("the bounds deny %s, which the policy does not allow", action)
			}
		}
	}
}

// An identity that may pass any role, or change any, may do everything.
func TestApart_boundsRoles(t *testing.T) {
	for _, s := range apart() {
		if slices.Contains(s.Action, "iam:PassRole") && (s.Condition == nil || s.Resource[0] == "*") {
			t.Errorf("%s passes %v to %v", s.Sid, s.Resource, s.Condition)
		}
	}
}
