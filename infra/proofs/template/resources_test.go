package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// functionsOf are the logical ids of the functions without "Function", sorted.
func functionsOf(tpl template) (names []string) {
	for name := range tpl.OfType("AWS::Serverless::Function") {
		names = append(names, strings.TrimSuffix(name, "Function"))
	}
	slices.Sort(names)
	return names
}

// mappingsOf are the properties of a function's events from queues.
func mappingsOf(function object) (all []object) {
	for _, event := range at(function, "Events") {
		if e := event.(object); e["Type"] == "SQS" {
			all = append(all, at(e, "Properties"))
		}
	}
	return all
}

func whole(t *testing.T, properties object, name string) int {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(properties[name]))
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return n
}

// A dead-letter queue counts a message's age from its first send, and takes none that is larger than it allows.
func TestDeadLetterQueuesTakeWhatTheirQueuesHold(t *testing.T) {
	const longest = 14 * 24 * 3600 // that SQS keeps a message
	tpl := load(t)
	for name, q := range tpl.OfType("AWS::SQS::Queue") {
		if kept := whole(t, q.Properties, "MessageRetentionPeriod"); kept != longest {
			t.Errorf("%s keeps messages for %d s", name, kept)
		}
		if q.Properties["SqsManagedSseEnabled"] != true || q.All["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s is not encrypted, or an update that replaces it deletes its messages", name)
		}
		dead := target(at(q.Properties, "RedrivePolicy")["deadLetterTargetArn"])
		if dead == "" {
			continue
		}
		size, room := whole(t, q.Properties, "MaximumMessageSize"),
			whole(t, tpl.Resources[dead].Properties, "MaximumMessageSize")
		if room < size {
			t.Errorf("%s takes messages of %d bytes, and %s only %d", name, size, dead, room)
		}
	}
}

// A rollback of the creation deletes resources with RetainExceptOnCreate. DynamoDB would refuse to delete a protected
// table, and the rollback would fail.
func TestDataOutlivesTheStackAndNoFailedCreation(t *testing.T) {
	tpl := load(t)
	stores := tpl.OfType("AWS::DynamoDB::Table")
	maps.Copy(stores, tpl.OfType("AWS::KMS::Key"))
	stores["AuditLogs"] = tpl.Resources["AuditLogs"]
	for name, r := range stores {
		want := "RetainExceptOnCreate"
		if r.Properties["DeletionProtectionEnabled"] == true {
			want = "Retain"
		}
		if got := r.All["DeletionPolicy"]; got != want || r.All["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s: deletion policy %v, want %s; replaced: %v", name, got, want, r.All["UpdateReplacePolicy"])
		}
		if at(r.Properties, "PointInTimeRecoverySpecification") != nil && r.Properties["DeletionProtectionEnabled"] != true {
			t.Errorf("%s can be restored, but is not protected", name)
		}
	}
}

func TestFunctionsKeepTheirLogsAsLongAsConfigured(t *testing.T) {
	tpl := load(t)
	for name, r := range tpl.OfType("AWS::Logs::LogGroup") {
		want := "LogRetentionDays"
		if name == "AuditLogs" {
			want = "AuditRetentionDays"
		}
		if got := target(r.Properties["RetentionInDays"]); got != want {
			t.Errorf("%s is kept for %s days, not %s", name, got, want)
		}
	}
	for _, name := range functionsOf(tpl) {
		logs := at(tpl.Resources[name+"Function"].Properties, "LoggingConfig")["LogGroup"]
		if tpl.Resources[target(logs)].Type != "AWS::Logs::LogGroup" {
			t.Errorf("%s logs to %v, a group that Lambda makes and keeps for ever", name, logs)
		}
	}
}

// Metrics are lines of JSON. The functions' logger writes in the format that the template sets.
func TestFunctionsLogJSON(t *testing.T) {
	tpl := load(t)
	for _, name := range functionsOf(tpl) {
		logging := maps.Clone(at(tpl.Globals, "Function", "LoggingConfig"))
		maps.Copy(logging, at(tpl.Resources[name+"Function"].Properties, "LoggingConfig"))
		if logging["LogFormat"] != "JSON" {
			t.Errorf("%s logs in the format %v", name, logging["LogFormat"])
		}
	}
}

// Lambda would ask an operator's function twice more where it failed, and run release's lost minutes later.
func TestNothingIsInvokedAgainByLambda(t *testing.T) {
	tpl := load(t)
	for _, name := range functionsOf(tpl) {
		p := tpl.Resources[name+"Function"].Properties
		scheduled := at(p, "Events", "EveryMinute") != nil
		retried := at(p, "EventInvokeConfig")["MaximumRetryAttempts"]
		if (at(p, "Events") == nil || scheduled) && retried != "0" {
			t.Errorf("%s is retried %v times when it is invoked asynchronously", name, retried)
		}
		if scheduled && whole(t, p, "Timeout") >= 60 {
			t.Errorf("a run of %s may still go on when the next one begins", name)
		}
	}
}

func TestMappingsLoseNothing(t *testing.T) {
	for _, r := range load(t).OfType("AWS::Serverless::Function") {
		for _, p := range mappingsOf(r.Properties) {
			if fmt.Sprint(p["FunctionResponseTypes"]) != "[ReportBatchItemFailures]" || p["FilterCriteria"] != nil {
				t.Errorf("%v: one failure fails the whole batch, or a filter deletes what it does not match", p["Queue"])
			}
		}
	}
}

// The access log contains no text of a client, since API Gateway escapes nothing. The method is left out as well: it
// should be a token without quotation marks, but AWS does not document that API Gateway insists on it.
func TestTheAccessLogHasNothingThatAClientWrites(t *testing.T) {
	access := at(load(t).Resources["HttpApi"].Properties, "AccessLogSettings")
	format, _ := access["Format"].(string)
	var line map[string]string
	if err := json.Unmarshal([]byte(format), &line); err != nil || strings.Contains(format, "\n") {
		t.Fatalf("the access log is not one line of JSON: %v\n%s", err, format)
	}
	ours := []string{
		"requestId", "requestTime", "routeKey", "status", "responseLatency", "responseLength",
		"integrationLatency", "integrationErrorMessage", "identity.sourceIp",
	}
	for key, value := range line {
		if variable, ok := strings.CutPrefix(value, "$context."); !ok || !slices.Contains(ours, variable) {
			t.Errorf("the access log has %s: %s", key, value)
		}
	}
}
