//go:build emulator

package template

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/conditions"
)

// takenBack are the properties that are gone where everything is switched off, each with the reason for which AWS then
// takes back what it said. A service may leave alone what a call does not name.
var takenBack = map[string]string{
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html: an update overwrites the
	// whole alarm.
	"AWS::CloudWatch::Alarm AlarmActions": "PutMetricAlarm replaces the alarm",
	"AWS::CloudWatch::Alarm OKActions":    "PutMetricAlarm replaces the alarm",

	// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html: with PAY_PER_REQUEST, which
	// the same update sets, there is no throughput.
	"AWS::DynamoDB::Table ProvisionedThroughput":                        "BillingMode is sent with it",
	"AWS::DynamoDB::Table GlobalSecondaryIndexes ProvisionedThroughput": "BillingMode is sent with it",

	// The registry's handlers of an update may call what takes these back: iam:DetachRolePolicy,
	// iam:DeleteRolePermissionsBoundary, lambda:DeleteFunctionConcurrency.
	"AWS::IAM::Role ManagedPolicyArns":                   "iam:DetachRolePolicy",
	"AWS::IAM::Role PermissionsBoundary":                 "iam:DeleteRolePermissionsBoundary",
	"AWS::Lambda::Function ReservedConcurrentExecutions": "lambda:DeleteFunctionConcurrency",

	// https://docs.aws.amazon.com/lambda/latest/api/API_Environment.html: all variables are sent, and take the place of
	// those before.
	"AWS::Lambda::Function Environment Variables AWS_USE_FIPS_ENDPOINT": "Environment is sent whole",

	// https://docs.aws.amazon.com/lambda/latest/api/API_UpdateEventSourceMapping.html: what is left is {}, by which Lambda
	// ends the limit.
	"AWS::Lambda::EventSourceMapping ScalingConfig MaximumConcurrency": "ScalingConfig is {}",
}

// switchedOn and switchedOff choose the two sides of each condition of the template that an update may change.
var (
	switchedOn = append([]string{
		"DisableExecuteApiEndpoint=true", "FipsEndpoints=yes", "LogLevel=DEBUG", "SourceAddresses=198.51.100.7",
		"FanoutReservedConcurrency=50", "DeliverReservedConcurrency=600", "OtherReservedConcurrency=5",
	}, everything...)
	switchedOff = []string{"LimitConcurrency=false", "Dashboard=false", "FunctionPolicies=off"}
)

// neverSwitched are conditions that no update may change.
var neverSwitched = map[string]bool{"MayReplicate": true, "MultiRegion": true}

func TestWhatAParameterSwitchesOffIsTakenBack(t *testing.T) {
	on, off := translated(t, switchedOn...), translated(t, switchedOff...)
	gone := map[string]bool{}
	for id, r := range on.Resources {
		if off.Resources[id].Type != "" {
			missing(r.Properties, off.Resources[id].Properties, r.Type, gone)
		}
	}
	maps.DeleteFunc(gone, func(_ string, property bool) bool { return !property })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(takenBack)), slices.Sorted(maps.Keys(gone))); diff != "" {
		t.Errorf("properties that are gone where all is switched off (-want +got):\n%s", diff)
	}
	for id, r := range off.OfType("AWS::Lambda::EventSourceMapping") {
		if diff := cmp.Diff(any(object{}), r.Properties["ScalingConfig"]); diff != "" {
			t.Errorf("%s keeps its limit (-want +got):\n%s", id, diff)
		}
	}
	tpl := load(t)
	for name := range tpl.Conditions {
		same := holdsUnder(t, tpl, name, switchedOn) == holdsUnder(t, tpl, name, switchedOff)
		if same != neverSwitched[name] {
			t.Errorf("%s is on both sides the same: %v", name, same)
		}
	}
}

// holdsUnder says whether a condition holds with these parameters.
func holdsUnder(t *testing.T, tpl template, condition string, parameters []string) bool {
	t.Helper()
	s := maps.Clone(configurations(t, tpl)["default"])
	for _, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		s[name] = value
	}
	holds, err := conditions.Under{Parameters: s, Named: tpl.Conditions}.Hold(object{"Condition": condition})
	if err != nil {
		t.Fatal(err)
	}
	return holds
}

// missing collects the properties that one value has and another lacks.
func missing(on, off any, at string, gone map[string]bool) {
	switch on := on.(type) {
	case object:
		other, _ := off.(object)
		for name, value := range on {
			_, there := other[name]
			function := strings.HasPrefix(name, "Fn::") || name == "Ref" // stands for a value
			if !there {
				gone[at+" "+name] = gone[at+" "+name] || !function
				continue
			}
			missing(value, other[name], at+" "+name, gone)
		}
	case []any:
		other, _ := off.([]any)
		for i := range min(len(on), len(other)) {
			missing(on[i], other[i], at, gone)
		}
	}
}
