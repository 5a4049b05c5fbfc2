//go:build emulator

package deployerpolicy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/rights"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Each feature is one of the template's, and AWS's page names its rights.
func TestFeaturesAreTheTemplates(t *testing.T) {
	translated, err := translate()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range features {
		used := false
		for _, r := range translated.OfType(f.kind) {
			used = used || r.Properties[f.property] != nil
		}
		if !used || !strings.HasPrefix(f.page, "https://docs.aws.amazon.com/") || len(f.actions) == 0 {
			t.Errorf("%s: no %s of the template has %s, or nothing says what it needs", f.sid, f.kind, f.property)
		}
	}
}

// needsMore are the types of which AWS's pages name rights that their schemas lack.
var needsMore = []string{
	"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::Stage", "AWS::ApplicationAutoScaling::ScalableTarget",
	"AWS::ApplicationAutoScaling::ScalingPolicy",
}

// A type that is new in the template is looked up in AWS's pages, and put into this list or into needsMore.
var needsNoMore = []string{
	"AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName", "AWS::Budgets::Budget", "AWS::CloudWatch::Alarm",
	"AWS::CloudWatch::Dashboard", "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::DynamoDB::Table", "AWS::Events::EventBus", "AWS::Events::EventBusPolicy", "AWS::IAM::ManagedPolicy",
	"AWS::IAM::Policy", "AWS::IAM::Role", "AWS::KMS::Alias", "AWS::KMS::Key", "AWS::Lambda::Alias",
	"AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Function",
	"AWS::Lambda::Permission", "AWS::Lambda::ResourcePolicy", "AWS::Lambda::Version", "AWS::Logs::LogGroup",
	"AWS::Logs::QueryDefinition", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "AWS::Scheduler::Schedule",
}

func TestEachTypeWasLookedUp(t *testing.T) {
	kinds, err := Types(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(slices.Concat(needsMore, needsNoMore)))
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("types (-looked up +of the template):\n%s", diff)
	}
	for _, kind := range needsMore {
		if !slices.ContainsFunc(features, func(f feature) bool { return f.kind == kind }) {
			t.Errorf("%s has no feature", kind)
		}
	}
}

// administrators are the rights that an administrator uses in the place of a bounded deployer.
var administrators = []string{
	"events:PutPermission", "iam:CreatePolicyVersion", "iam:DeleteRolePermissionsBoundary",
}

// Each call that CloudFormation makes to create, update or delete a type of any variant is allowed on the stack's own
// resources. A bounded deployer leaves some to administrators.
func TestTheDeployerMayDeployEachType(t *testing.T) {
	policy, bounds := statementsOf(t, File), statementsOf(t, Bounds)
	judged := 0
	for kind, actions := range actionsByType(t) {
		actions = needed(map[string][]string{kind: actions})
		for _, f := range features {
			if f.kind == kind {
				actions = append(actions, f.actions...)
			}
		}
		for _, action := range actions {
			judged++
			if !mayOnTheStack(t, action, policy) {
				t.Errorf("%s needs %s", kind, action)
			}
			may := mayOnTheStack(t, action, slices.Concat(policy, bounds))
			if may == slices.Contains(administrators, action) {
				t.Errorf("bounded, %s of %s is allowed: %v", action, kind, may)
			}
		}
	}
	if judged < 250 {
		t.Errorf("%d calls were judged", judged)
	}
}

// mayOnTheStack says whether policies allow a call on some resource of a stack named herald-prod.
func mayOnTheStack(t *testing.T, action string, identity []any) bool {
	t.Helper()
	service, _, _ := strings.Cut(action, ":")
	identity = slices.DeleteFunc(slices.Clone(identity), func(one any) bool {
		s, _ := one.(map[string]any)
		return !slices.Contains(cfn.List(s["Action"]), any(action))
	})
	resources := []string{"*", "role/aws-service-role/ops.apigateway.amazonaws.com/x", scaling, "role/herald-prod-x"}
	for _, pattern := range patterns(service) {
		resources = append(resources, strings.ReplaceAll(pattern, "*", "herald-prod-x"))
	}
	return slices.ContainsFunc(resources, func(on string) bool {
		return slices.ContainsFunc(contexts, func(having string) bool {
			a := attempt{action: action, on: on, having: having}
			call := a.by(identity)
			if strings.HasPrefix(on, "arn:") {
				call.Resource = on
			}
			return judge(t, call) == rights.Allowed
		})
	})
}

// contexts are what AWS says of a call about the stack's own resources: one of these is enough to each statement.
var contexts = []string{
	"", bounded, ours, deliver, "iam:PassedToService=lambda.amazonaws.com",
	"iam:AWSServiceName=ops.apigateway.amazonaws.com",
	"iam:AWSServiceName=dynamodb.application-autoscaling.amazonaws.com",
}
