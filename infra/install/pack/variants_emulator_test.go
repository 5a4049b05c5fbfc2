//go:build emulator

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// variants are the parameters that add, remove or join resources, each with a value that is not its default.
var variants = map[string][]string{
	"AlarmTopicArn":              {"AlarmTopicArn=arn:aws:sns:eu-central-1:111122223333:alarms"},
	"Dashboard":                  {"Dashboard=false"},
	"DeliverReservedConcurrency": {"DeliverReservedConcurrency=700"},
	"DisableExecuteApiEndpoint": {
		"DisableExecuteApiEndpoint=true", "DomainName=webhooks.example.com",
		"CertificateArn=arn:aws:acm:eu-central-1:111122223333:certificate/0d",
	},
	"DomainName": {
		"DomainName=webhooks.example.com", "CertificateArn=arn:aws:acm:eu-central-1:111122223333:certificate/0d",
	},
	"FanoutReservedConcurrency": {"FanoutReservedConcurrency=50"},
	"FipsEndpoints":             {"FipsEndpoints=yes"},
	"FunctionPolicies":          {"FunctionPolicies=off"},
	"GradualDeployment":         {"GradualDeployment=true"},
	"HeartbeatTenant":           {"HeartbeatTenant=heartbeat"},
	"LimitConcurrency":          {"LimitConcurrency=false"},
	"LogLevel":                  {"LogLevel=DEBUG"},
	"MonthlyBudget": {
		"MonthlyBudget=200", "TicketTopicArn=arn:aws:sns:eu-central-1:111122223333:tickets",
	},
	"MultiRegionKeys":          {"MultiRegionKeys=yes"},
	"Notices":                  {"Notices=on"},
	"NoticesContact":           {"Notices=on", "NoticesContact=on"},
	"OtherReservedConcurrency": {"OtherReservedConcurrency=10"},
	"PermissionsBoundaryArn":   {"PermissionsBoundaryArn=arn:aws:iam::111122223333:policy/boundary"},
	"ProvisionedCapacity":      {"ProvisionedCapacity=true"},
	"PublisherAccounts":        {"PublisherAccounts=111122223333"},
	"PublisherRules":           {"PublisherRules=arn:aws:events:eu-central-1:111122223333:rule/users"},
	"PublisherTopics":          {"PublisherTopics=arn:aws:sns:eu-central-1:111122223333:users"},
	"ReplicaRegions":           {"MultiRegionKeys=yes", "ReplicaRegions=eu-west-1,eu-west-2"},
	"SourceAddresses":          {"SourceAddresses=198.51.100.7,198.51.100.16/28"},
	"TicketTopicArn":           {"TicketTopicArn=arn:aws:sns:eu-central-1:111122223333:tickets"},
	"VpcSubnetIds":             {"VpcSubnetIds=subnet-0a1b2c3d,subnet-1a1b2c3d", "VpcSecurityGroupIds=sg-0a1b2c3d"},
}

// The linter knows faults that CloudFormation refuses and template.yaml does not show: the translator can make circles
// through the update policies of aliases, for example.
func TestTheTemplateIsLintedAsCloudFormationGetsIt(t *testing.T) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		all = append(all, variants[name]...)
	}
	lint(t, map[string][]string{"all": all}) // make reproducible has each alone, and none
}

// lint translates the packaged template with the parameters of each name, and gives the results to the linter.
func lint(t *testing.T, named map[string][]string) {
	t.Helper()
	template, folder := packaged(t, "1.0.0"), t.TempDir()
	command := []string{"--ignore-checks", "W1030", "W1033", "W1100", "--format", "parseable", "--"}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		command = append(command, lintable(t, folder, name, translate(t, template, named[name]...)))
	}
	linter := exec.CommandContext(t.Context(), filepath.Join(root, ".venv/bin/cfn-lint"), command...)
	linter.Env = append(os.Environ(), "AWS_DEFAULT_REGION=us-east-1")
	if out, err := linter.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, strings.ReplaceAll(string(out), folder+"/", ""))
	}
}

func lintable(t *testing.T, folder, name string, translated *sam.Template) string {
	t.Helper()
	text, err := json.Marshal(translated.Body)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, name+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A parameter that a condition asks for, and that no variant sets, would be linted with its default alone.
func TestVariants_setEveryParameterOfACondition(t *testing.T) {
	conditions := fmt.Sprint(cfn.At(translate(t, packaged(t, "1.0.0")).Body, "Conditions"))
	asked := regexp.MustCompile(`Ref:(\w+)[^\w:]`).FindAllStringSubmatch(conditions, -1)
	if len(asked) == 0 {
		t.Fatalf("no parameters in %s", conditions)
	}
	for _, name := range asked {
		if variants[name[1]] == nil {
			t.Errorf("no variant sets %s", name[1])
		}
	}
}

// metricDelay is more than CloudWatch needs to show a metric of Lambda or API Gateway.
const metricDelay = 5 * time.Minute

// An alarm that needs longer than the canary lasts would go off when all work has moved.
func TestTheCanarySeesItsAlarms(t *testing.T) {
	tpl := translate(t, packaged(t, "1.0.0"), variants["GradualDeployment"]...)
	watching := map[string]cfn.Resource{}
	for id, alarm := range tpl.OfType("AWS::CloudWatch::Alarm") {
		watching[id] = alarm
		if sub, ok := cfn.At(alarm.Properties, "AlarmName")["Fn::Sub"].(string); ok {
			watching[sub] = alarm
		}
	}
	groups := tpl.OfType("AWS::CodeDeploy::DeploymentGroup")
	if len(groups) != len(shifted) {
		t.Fatalf("%d deployment groups, want %d", len(groups), len(shifted))
	}
	for id, group := range groups {
		canary := regexp.MustCompile(`Canary10Percent(\d+)Minutes`).FindStringSubmatch(fmt.Sprint(group.Properties))
		if canary == nil {
			t.Fatalf("%s shifts by %v", id, group.Properties["DeploymentConfigName"])
		}
		minutes, _ := strconv.Atoi(canary[1])
		for _, one := range cfn.List(cfn.At(group.Properties, "AlarmConfiguration")["Alarms"]) {
			named := cfn.At(one.(cfn.Object), "Name")
			alarm, known := watching[fmt.Sprint(named["Ref"])]
			if sub, ok := named["Fn::Sub"].(string); ok {
				alarm, known = watching[sub]
			}
			if !known {
				t.Errorf("%s is watched by an alarm that does not exist: %v", id, named)
				continue
			}
			if goesOff := longest(alarm) + metricDelay; goesOff >= time.Duration(minutes)*time.Minute {
				t.Errorf("%v goes off after %s, the canary of %s lasts %d min", named, goesOff, id, minutes)
			}
		}
	}
}

// longest is the time over which an alarm gathers data points before it goes off.
func longest(alarm cfn.Resource) time.Duration {
	period := number(alarm.Properties["Period"])
	for _, metric := range cfn.List(alarm.Properties["Metrics"]) {
		period = max(period, number(cfn.At(metric.(cfn.Object), "MetricStat")["Period"]))
	}
	return time.Duration(period*number(alarm.Properties["EvaluationPeriods"])) * time.Second
}

func number(v any) int {
	n, _ := v.(float64)
	return int(n)
}

func translate(t *testing.T, template string, parameters ...string) *sam.Template {
	t.Helper()
	translated, err := sam.Translate(t.Context(), sam.Source{
		Root: root, Template: template, Environment: "default", Parameters: append(parameters, "CodeBucket=releases"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, function := range translated.OfType("AWS::Lambda::Function") {
		if code := cfn.At(function.Properties, "Code"); code["S3Bucket"] == nil || code["S3Key"] == nil {
			t.Errorf("the code of %s is in %v", id, code)
		}
	}
	return translated
}

// packaged is the path of the template of a version.
func packaged(t *testing.T, version string) string {
	t.Helper()
	text, err := install(file(t, filepath.Join(root, "template.yaml")), version, keys(t, version))
	if err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "template.yaml")
	if err := os.WriteFile(template, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return template
}
