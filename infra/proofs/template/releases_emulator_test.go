//go:build emulator

package template

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

type resource = cfn.Resource

// version is that of the latest release. Once it is tagged, its file stays, and the next version gets one of its own.
const version = "1.0.0"

// The latest release, as CloudFormation got it. `make freeze` writes it anew.
var (
	latest = filepath.Join("testdata", "releases", version+".json")
	freeze = flag.Bool("freeze", false, "write the template of this state as the latest release")
)

func TestAnUpdateFromTheLatestReleaseCutsNobodyOff(t *testing.T) {
	now, err := sam.Translate(t.Context(), sam.Source{Root: root, Environment: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if *freeze {
		made, err := os.ReadFile(filepath.Join(root, "infra/install/pack/VERSION"))
		if err != nil || strings.TrimSpace(string(made)) != version {
			t.Fatalf("%s stays as it is, since the version is %s: change the constant (%v)", latest, made, err)
		}
		text, err := json.MarshalIndent(now.Body, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(latest, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := breaks(released(t), editionOf(t, now.Body)); len(found) > 0 {
		slices.Sort(found)
		t.Errorf("an update from %s:\n%s", latest, strings.Join(found, "\n"))
	}
}

func released(t *testing.T) edition {
	t.Helper()
	text, err := os.ReadFile(latest)
	if err != nil {
		t.Fatal(err)
	}
	var body object
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	return editionOf(t, body)
}

func editionOf(t *testing.T, body object) edition {
	t.Helper()
	e := edition{template: cfn.Of(body), outputs: at(body, "Outputs")}
	kinds := map[string]bool{}
	for _, one := range e.Resources {
		kinds[one.Type] = true
	}
	e.schemas = schemasOf(t, slices.Sorted(maps.Keys(kinds)))
	return e
}

var readSchemas = map[string]map[string]registered{} // by their types

// schemasOf are what the registry says about types.
func schemasOf(t *testing.T, kinds []string) map[string]registered {
	t.Helper()
	key := strings.Join(kinds, " ")
	if readSchemas[key] != nil {
		return readSchemas[key]
	}
	python := filepath.Join(root, ".venv/bin/python")
	out, err := exec.CommandContext(t.Context(), python, append([]string{"schemas.py"}, kinds...)...).Output()
	if err != nil {
		t.Fatalf("reading schemas: %v", err)
	}
	var found map[string]registered
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	readSchemas[key] = found
	return found
}

// Each rule refuses the change that it is for, and nothing else is refused with it.
func TestTheRulesOfReleasesRefuse(t *testing.T) {
	from := released(t)
	properties := func(id string) object { return from.Resources[id].Properties }
	table := properties("DeadLetters")
	index := func(name string) object { return indexesOf(table)[name] }
	for name, row := range map[string]struct {
		change func()
		want   string
	}{
		"a description of a managed policy": {func() { properties("Deleters")["Description"] = "x" },
			"Deleters is replaced: /properties/Description differs"},
		"another name of a queue": {func() { properties("EventsQueue")["QueueName"] = "events" },
			"EventsQueue is replaced: /properties/QueueName differs"},
		"another kind of key": {func() { properties("SecretsKey")["KeySpec"] = "RSA_2048" },
			"SecretsKey is replaced: /properties/KeySpec differs"},
		"another key of a table": {func() { table["KeySchema"] = []any{} },
			"DeadLetters is replaced: /properties/KeySchema differs"},
		"a table gone": {func() { delete(from.Resources, "Jobs") },
			"Jobs, of type AWS::DynamoDB::Table, is gone, or has another type or condition"},
		"a policy gone": {func() { delete(from.Resources, "KeyIssuers") },
			"KeyIssuers, of type AWS::IAM::ManagedPolicy, is gone, or has another type or condition"},
		"a function gone": {func() { delete(from.Resources, "ReplayFunction") },
			"ReplayFunction, of type AWS::Lambda::Function, is gone, or has another type or condition"},
		"a role gone": {func() { delete(from.Resources, "DeliverRole") },
			"DeliverRole, of type AWS::IAM::Role, is gone, or has another type or condition"},
		"a bus on another condition": {func() { from.Conditions["HasNotices"] = object{"Condition": "HasDomain"} },
			"NoticesBus, of type AWS::Events::EventBus, is gone, or has another type or condition"},
		"a name that moves": {func() {
			from.Resources["Errors"] = from.Resources["ApiErrorsAlarm"]
			delete(from.Resources, "ApiErrorsAlarm")
		}, "Errors and ApiErrorsAlarm are one to AWS"},
		"a mapping that moves": {func() {
			from.Resources["Buries"] = from.Resources["DeadletterFunctionDeadLetterQueue"]
			delete(from.Resources, "DeadletterFunctionDeadLetterQueue")
		}, "Buries and DeadletterFunctionDeadLetterQueue are one to AWS"},
		"a queue's policy that moves": {func() {
			from.Resources["OnlyByTLS"] = from.Resources["DeadLetterQueuePolicy"]
			delete(from.Resources, "DeadLetterQueuePolicy")
		}, "OnlyByTLS and DeadLetterQueuePolicy are one to AWS"},
		"a table's scaling that moves": {func() {
			from.Resources["Scaling"] = from.Resources["DeliveriesReads"]
			delete(from.Resources, "DeliveriesReads")
		}, "Scaling and DeliveriesReads are one to AWS"},
		"another time to live": {func() { at(table, "TimeToLiveSpecification")["AttributeName"] = "ends_at" },
			"DeadLetters: the time to live is in another attribute"},
		"another type of an attribute": {func() {
			table["AttributeDefinitions"] = []any{object{"AttributeName": "tenant_id", "AttributeType": "B"}}
		}, "DeadLetters: the attribute tenant_id has another type"},
		"a queue on a condition": {func() { from.Resources["SlowQueue"].All["Condition"] = "HasSlow" },
			"SlowQueue, of type AWS::SQS::Queue, is gone, or has another type or condition"},
		"an index with another key": {func() { index("by-tenant")["KeySchema"] = []any{} },
			"DeadLetters: the index by-tenant is changed under its name"},
		"an index with another projection": {func() { index("by-tenant")["Projection"] = object{"ProjectionType": "ALL"} },
			"DeadLetters: the index by-tenant is changed under its name"},
		"two other indexes": {func() { index("by-tenant")["IndexName"] = "by-tenants" },
			"DeadLetters: 2 indexes are added or removed"},
		"a route with settings gone": {func() { delete(at(properties("HttpApi"), "Body", "paths"), "/v1/source-addresses") },
			"HttpApiApiGatewayDefaultStage: the route GET /v1/source-addresses has settings, and is removed"},
		"a parameter gone": {func() { delete(from.Parameters, "Stage") }, "the parameter Stage is gone"},
		"a parameter without default": {func() { from.Parameters["Size"] = object{"Type": "String"} },
			"the parameter Size is new, and has no default"},
		"a value that is taken no more": {func() { from.Parameters["Notices"]["AllowedValues"] = []any{"off"} },
			"the parameter Notices no longer takes on"},
		"a list of values": {func() { from.Parameters["AlarmTopicArn"]["AllowedValues"] = []any{""} },
			"the parameter AlarmTopicArn has another type, or a list of values"},
		"a lower maximum": {func() { from.Parameters["AcknowledgedDays"]["MaxValue"] = 30.0 },
			"the parameter AcknowledgedDays has a narrower MaxValue"},
		"a higher minimum": {func() { from.Parameters["AcknowledgedDays"]["MinValue"] = 2.0 },
			"the parameter AcknowledgedDays has a narrower MinValue"},
		"an output gone": {func() { delete(from.outputs, "ApiUrl") }, "the output ApiUrl is gone"},
	} {
		from.template, from.outputs = released(t).template, released(t).outputs
		table = properties("DeadLetters")
		row.change()
		if diff := cmp.Diff([]string{row.want}, breaks(released(t), from)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What later releases will need is not refused.
func TestTheRulesOfReleasesLetTheTemplateGrow(t *testing.T) {
	for name, change := range map[string]func(next edition){
		"one index fewer": func(next edition) {
			table := next.Resources["DeadLetters"].Properties
			table["GlobalSecondaryIndexes"] = slices.Delete(list(table["GlobalSecondaryIndexes"]), 0, 1)
		},
		"an index with a new attribute": func(next edition) {
			table := next.Resources["DeadLetters"].Properties
			table["AttributeDefinitions"] = append(list(table["AttributeDefinitions"]),
				object{"AttributeName": "died_of", "AttributeType": "S"})
			table["GlobalSecondaryIndexes"] = append(list(table["GlobalSecondaryIndexes"]), object{
				"IndexName": "by-cause", "KeySchema": []any{object{"AttributeName": "died_of", "KeyType": "HASH"}},
			})
		},
		"a route with settings": func(next edition) {
			at(next.Resources["HttpApi"].Properties, "Body", "paths")["/v1/limits"] = object{"get": object{}}
			at(next.Resources["HttpApiApiGatewayDefaultStage"].Properties, "RouteSettings")["GET /v1/limits"] = object{}
		},
		"a table, a function and a policy": func(next edition) {
			for name, like := range map[string]string{"Limits": "Jobs", "LimitPolicy": "Deleters"} {
				next.Resources[name] = next.Resources[like]
			}
			next.Resources["LimitFunction"] = resource{Type: "AWS::Lambda::Function", Properties: object{
				"FunctionName": object{"Fn::Sub": "${AWS::StackName}-limit"}}}
		},
		"a parameter with a default, and an output": func(next edition) {
			next.Parameters["Limit"] = object{"Type": "Number", "Default": 1.0, "MinValue": 1.0}
			next.outputs["Limit"] = object{"Value": "1"}
		},
		"a higher maximum, and one value more": func(next edition) {
			next.Parameters["AcknowledgedDays"]["MaxValue"] = 400.0
			next.Parameters["Notices"]["AllowedValues"] = append(list(next.Parameters["Notices"]["AllowedValues"]), "some")
		},
		"another default":            func(next edition) { next.Parameters["AcknowledgedDays"]["Default"] = 8.0 },
		"a bus that all stacks have": func(next edition) { delete(next.Resources["NoticesBus"].All, "Condition") },
		"a time to live": func(next edition) {
			next.Resources["ApiKeys"].Properties["TimeToLiveSpecification"] = object{"AttributeName": "expires_at"}
		},
		"an alarm fewer": func(next edition) { delete(next.Resources, "ApiErrorsAlarm") },
	} {
		next := released(t)
		change(next)
		if found := breaks(released(t), next); len(found) > 0 {
			t.Errorf("%s is refused: %v", name, found)
		}
	}
}
