//go:build emulator

package deployerpolicy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const root = "../../.."

// translate takes seconds, and no test changes its result.
var translate = sync.OnceValues(func() (*sam.Template, error) {
	return sam.Translate(context.Background(), sam.Source{Root: root, Environment: "default"})
})

// A new resource of the template needs rights that the deployer may not have yet.
func TestThePolicyIsGenerated(t *testing.T) {
	want, err := Generate(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not of this template: run go run ./infra/install/deployerpolicy/write (-generated +committed):\n%s",
			File, diff)
	}
	// IAM takes that many characters as the policy of a role, and counts no white space.
	if n := len(strings.Join(strings.Fields(string(got)), "")); n > 10_240 {
		t.Errorf("%s has %d characters: too many for a role", File, n)
	}
}

// actionsByType are the calls of the handlers of each type of any variant.
func actionsByType(t *testing.T) map[string][]string {
	t.Helper()
	kinds, err := Types(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	byType, err := permissions(t.Context(), root, kinds)
	if err != nil {
		t.Fatal(err)
	}
	return byType
}

// Each action of a handler is in the policy, or belongs to a property that no resource has.
//
// Threat of the account: reads data by the deployer's role. Held by: no right on items, messages or encryption; new
// code can still read all.
func TestThePolicyNamesEveryActionOfTheHandlers(t *testing.T) {
	p := committed(t)
	for kind, actions := range actionsByType(t) {
		if len(actions) == 0 {
			t.Errorf("the schema of %s names no action", kind)
		}
		for _, action := range actions {
			named := slices.ContainsFunc(p.Statement, func(s statement) bool { return slices.Contains(s.Action, action) })
			if !named && !isLeft(action) {
				t.Errorf("%s needs %s, which the policy lacks", kind, action)
			}
		}
	}
	used := properties(t)
	for name, needing := range left {
		for _, property := range needing {
			if used[property] {
				t.Errorf("a resource has %s, for which CloudFormation needs %s", property, name)
			}
		}
	}
}

// The policy bounds types by a name that begins as the stack's. A resource with another name could not be made.
func TestEveryNameOfTheTemplateBeginsAsThePolicySays(t *testing.T) {
	translated, err := translate()
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for kind, how := range map[string]struct{ property, service, begin string }{
		"AWS::CloudWatch::Alarm":     {"AlarmName", "cloudwatch", "arn:aws:cloudwatch:*:*:alarm:"},
		"AWS::CloudWatch::Dashboard": {"DashboardName", "cloudwatch", "arn:aws:cloudwatch::*:dashboard/"},
		"AWS::DynamoDB::Table":       {"TableName", "dynamodb", "arn:aws:dynamodb:*:*:table/"},
		"AWS::Events::EventBus":      {"Name", "events", "arn:aws:events:*:*:event-bus/"},
		"AWS::IAM::ManagedPolicy":    {"ManagedPolicyName", "iam", "arn:aws:iam::*:policy/"},
		"AWS::IAM::Role":             {"RoleName", "iam", "arn:aws:iam::*:role/"},
		"AWS::KMS::Alias":            {"AliasName", "kms", "arn:aws:kms:*:*:"},
		"AWS::Lambda::Function":      {"FunctionName", "lambda", "arn:aws:lambda:*:*:function:"},
		"AWS::Logs::LogGroup":        {"LogGroupName", "logs", "arn:aws:logs:*:*:log-group:"},
		"AWS::SQS::Queue":            {"QueueName", "sqs", "arn:aws:sqs:*:*:"},
	} {
		resources := translated.OfType(kind)
		if len(resources) == 0 {
			t.Errorf("the template has no %s", kind)
		}
		for id, r := range resources {
			if r.Properties[how.property] == nil {
				continue // CloudFormation gives a name that begins so
			}
			named++
			name := fmt.Sprint(cfn.At(r.Properties, how.property)["Fn::Sub"])
			arn := how.begin + strings.Replace(name, "${AWS::StackName}", "herald-prod", 1)
			if !slices.ContainsFunc(patterns(how.service), func(pattern string) bool { return covers(pattern, arn) }) {
				t.Errorf("%s is named %v, which the policy does not allow", id, r.Properties[how.property])
			}
		}
	}
	if named < 25 {
		t.Errorf("%d names were looked at", named)
	}
}

// properties are the names of all properties, at any depth, of the translated resources.
func properties(t *testing.T) map[string]bool {
	t.Helper()
	translated, err := translate()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range cfn.Of(translated.Body).Resources {
		collect(r.Properties, used)
	}
	return used
}

func collect(v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			used[name] = true
			collect(inner, used)
		}
	case []any:
		for _, inner := range v {
			collect(inner, used)
		}
	}
}
