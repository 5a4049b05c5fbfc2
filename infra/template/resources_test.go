package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueues(t *testing.T) {
	tpl := load(t)
	deadLetters := map[string][2]string{ // queue → its dead-letter queue and the parameter with the limit
		"EventsQueue":   {"EventsDeadLetterQueue", "EventsMaxReceiveCount"},
		"DeliveryQueue": {"DeadLetterQueue", "DeliveryMaxReceiveCount"},
		"RetryQueue":    {"DeadLetterQueue", "RetryQueueMaxReceiveCount"},
	}
	for name, q := range tpl.ofType(t, "AWS::SQS::Queue", 5) {
		size := "278528"
		if name == "EventsQueue" {
			size = "262144"
		}
		p := q.Properties
		fixed := object{"MaximumMessageSize": size, "MessageRetentionPeriod": "1209600", "SqsManagedSseEnabled": true}
		for property, want := range fixed {
			if p[property] != want {
				t.Errorf("%s: %s is %v, want %v", name, property, p[property], want)
			}
		}
		if target(p["VisibilityTimeout"]) != "QueueVisibilitySeconds" {
			t.Errorf("%s: visibility %v", name, p["VisibilityTimeout"])
		}
		redrive := at(p, "RedrivePolicy")
		got := [2]string{target(redrive["deadLetterTargetArn"]), target(redrive["maxReceiveCount"])}
		if got != deadLetters[name] {
			t.Errorf("%s redrives to %v, want %v", name, got, deadLetters[name])
		}
		if q.all["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s: an update that replaces it deletes its messages", name)
		}
	}
}

// What lists show of a dead letter is in both indexes, or DynamoDB refuses the query; the
// sealed body is in none.
func TestIndexesOfDeadLettersHoldWhatListsShow(t *testing.T) {
	shown := []any{
		"tenant_id", "event_id", "event_type", "reason", "attempts", "last_status",
		"replay", "replay_count", "created_at", "updated_at",
	}
	keys := map[string]any{"by-endpoint": "status", "by-status": "endpoint_id"}
	indexes := list(load(t).Resources["DeadLetters"].Properties["GlobalSecondaryIndexes"])
	if len(indexes) != len(keys) {
		t.Errorf("%d indexes, want %d", len(indexes), len(keys))
	}
	for _, index := range indexes {
		o := index.(object)
		projection := at(o, "Projection")
		got := list(projection["NonKeyAttributes"])
		want := append(slices.Clone(shown), keys[fmt.Sprint(o["IndexName"])])
		if projection["ProjectionType"] != "INCLUDE" || !slices.Equal(got, want) {
			t.Errorf("%v projects %v %v, want %v", o["IndexName"], projection["ProjectionType"], got, want)
		}
	}
}

func TestTables(t *testing.T) {
	tables := load(t).ofType(t, "AWS::DynamoDB::Table", 6)
	for _, want := range []struct {
		name                string
		keys                string
		indexes             string
		restored, protected bool
		expires             any
	}{
		{"Endpoints", "tenant_id endpoint_id", "", true, true, nil},
		{"ApiKeys", "key_id", "by-tenant: tenant_id key_id", true, false, nil},
		{
			"Deliveries", "delivery_id",
			"by-endpoint: open_endpoint_id updated_at; open-by-endpoint: open_endpoint_id created_at",
			false, false, "expires_at",
		},
		{"DeadLetters", "delivery_id", "by-endpoint: endpoint_id died_at; by-status: status died_at", true, true, nil},
		{"Backlog", "endpoint_shard position", "by-due: due_shard due_at", false, true, nil},
		{"EndpointHealth", "scope name", "", false, false, nil},
	} {
		p := tables[want.name].Properties
		var indexes []string
		for _, index := range list(p["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, fmt.Sprint(index.(object)["IndexName"], ": ", schema(index.(object))))
		}
		if got := strings.Join(indexes, "; "); schema(p) != want.keys || got != want.indexes {
			t.Errorf("%s has keys %q and indexes %q", want.name, schema(p), got)
		}
		if p["BillingMode"] != "PAY_PER_REQUEST" || at(p, "SSESpecification")["SSEEnabled"] != true {
			t.Errorf("%s is not on demand, or not encrypted", want.name)
		}
		if got := at(p, "PointInTimeRecoverySpecification")["PointInTimeRecoveryEnabled"] == true; got != want.restored {
			t.Errorf("%s: point-in-time recovery %v", want.name, got)
		}
		if got := p["DeletionProtectionEnabled"] == true; got != want.protected {
			t.Errorf("%s: deletion protection %v", want.name, got)
		}
		ttl := at(p, "TimeToLiveSpecification")
		if ttl["AttributeName"] != want.expires || (ttl != nil && ttl["Enabled"] != true) {
			t.Errorf("%s: time to live %v", want.name, ttl)
		}
		if r := tables[want.name].all; r["DeletionPolicy"] != "Retain" || r["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s is deleted with the stack", want.name)
		}
	}
}

// An index that a retry or a parking writes holds keys and nothing else.
func TestIndexesOfWhatIsWrittenOftenHoldKeysOnly(t *testing.T) {
	tpl := load(t)
	for table, name := range map[string]string{"Deliveries": "open-by-endpoint", "Backlog": "by-due"} {
		projected := map[any]any{}
		for _, index := range list(tpl.Resources[table].Properties["GlobalSecondaryIndexes"]) {
			o := index.(object)
			projected[o["IndexName"]] = at(o, "Projection")["ProjectionType"]
		}
		if projected[name] != "KEYS_ONLY" {
			t.Errorf("%s projects %v", name, projected[name])
		}
	}
}

func schema(table object) string {
	var names []string
	for _, key := range list(table["KeySchema"]) {
		names = append(names, fmt.Sprint(key.(object)["AttributeName"]))
	}
	return strings.Join(names, " ")
}

func TestFunctions(t *testing.T) {
	tpl := load(t)
	globals := at(tpl.Globals, "Function")
	ran := fmt.Sprint(globals["Runtime"], globals["Architectures"], globals["Handler"])
	if want := "provided.al2023[arm64]bootstrap"; ran != want {
		t.Errorf("functions run on %s, want %s", ran, want)
	}
	if at(globals, "LoggingConfig")["LogFormat"] != "JSON" {
		t.Error("logs are not JSON")
	}
	timeouts := map[string]string{
		"Webhooks": "ApiTimeoutSeconds", "Inspect": "OperatorTimeoutSeconds",
		"Replay": "OperatorTimeoutSeconds", "Control": "OperatorTimeoutSeconds", "Apikeys": "OperatorTimeoutSeconds",
	}
	for _, name := range functions {
		f := tpl.Resources[name+"Function"]
		for _, changed := range []string{"Runtime", "Architectures", "Handler", "RecursiveLoop"} {
			if f.Properties[changed] != nil {
				t.Errorf("%s has a %s of its own", name, changed)
			}
		}
		if at(f.all, "Metadata")["BuildMethod"] != "makefile" {
			t.Errorf("%s is not built by make", name)
		}
		if got := target(f.Properties["Timeout"]); got != timeouts[name] {
			t.Errorf("%s has the timeout %q", name, got)
		}
		if given := f.Properties["Timeout"]; name == "Release" && given != "50" {
			t.Errorf("a tick may take %v s: it must end before the next one begins", given)
		}
		limit := list(at(f.Properties, "ReservedConcurrentExecutions")["Fn::If"])
		want := []any{"Reserve" + name, object{"Ref": name + "ReservedConcurrency"}, object{"Ref": "AWS::NoValue"}}
		if diff := cmp.Diff(want, limit); diff != "" {
			t.Errorf("%s reserves (-want +got):\n%s", name, diff)
		}
		retried := at(f.Properties, "EventInvokeConfig")["MaximumRetryAttempts"]
		if once := timeouts[name] == "OperatorTimeoutSeconds" || name == "Release"; once != (retried == "0") {
			t.Errorf("%s is retried %v times when invoked asynchronously", name, retried)
		}
		logs := target(at(f.Properties, "LoggingConfig")["LogGroup"])
		if logs != name+"Logs" || target(tpl.Resources[logs].Properties["RetentionInDays"]) != "LogRetentionDays" {
			t.Errorf("%s logs to %q, which does not exist or is kept for ever", name, logs)
		}
	}
}

// tuning are variables that Go's runtime reads by itself; STAGE is there for every function.
var tuning = []string{"STAGE", "GOGC", "GOMEMLIMIT", "GOMAXPROCS"}

// A Number parameter must reach a function as text: the emulator would hand it on as a JSON
// number, which the AWS SDK for Go refuses. And what a function reads is what it is given.
func TestEnvironment(t *testing.T) {
	tpl := load(t)
	tag := regexp.MustCompile(`env:"([A-Z_]+)`)
	shared := at(tpl.Globals, "Function", "Environment", "Variables")
	for _, name := range functions {
		given := maps.Clone(shared)
		maps.Copy(given, at(tpl.Resources[name+"Function"].Properties, "Environment", "Variables"))
		for variable, v := range given {
			_, text := v.(string)
			if _, sub := at(object{"v": v}, "v")["Fn::Sub"].(string); !text && !sub {
				t.Errorf("%s: %s is %v, want a literal or a !Sub", name, variable, v)
			}
		}
		source, err := os.ReadFile(filepath.Join(root, "internal", "handler", strings.ToLower(name), "new.go"))
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[string]bool{}
		for _, match := range tag.FindAllStringSubmatch(string(source), -1) {
			wanted[match[1]] = true
			if given[match[1]] == nil {
				t.Errorf("%s reads %s, which the template does not give it", name, match[1])
			}
		}
		for variable := range given {
			if !wanted[variable] && !slices.Contains(tuning, variable) {
				t.Errorf("%s is given %s, which it does not read", name, variable)
			}
		}
	}
}

func TestMappings(t *testing.T) {
	tpl := load(t)
	consumers := map[string]string{}
	for _, name := range functions {
		for _, event := range at(tpl.Resources[name+"Function"].Properties, "Events") {
			e := event.(object)
			if e["Type"] != "SQS" {
				continue
			}
			p := at(e, "Properties")
			queue := target(p["Queue"])
			consumers[queue] = name
			if fmt.Sprint(p["FunctionResponseTypes"]) != "[ReportBatchItemFailures]" {
				t.Errorf("%s → %s: one failure fails the whole batch", queue, name)
			}
			concurrency := at(p, "ScalingConfig")["MaximumConcurrency"]
			got := []string{target(concurrency), target(p["BatchSize"]), target(p["MaximumBatchingWindowInSeconds"])}
			if !slices.Equal(got, []string{"MaximumConcurrency", "BatchSize", "BatchWindowSeconds"}) {
				t.Errorf("%s → %s: concurrency, batch and window are %v", queue, name, got)
			}
			if p["FilterCriteria"] != nil {
				t.Errorf("%s → %s: a filter deletes what it does not match", queue, name)
			}
		}
	}
	want := map[string]string{
		"EventsQueue": "Fanout", "DeliveryQueue": "Deliver", "RetryQueue": "Deliver", "DeadLetterQueue": "Deadletter",
	}
	if !maps.Equal(consumers, want) {
		t.Errorf("queues are consumed by %v, want %v", consumers, want)
	}
}

func TestRoutes(t *testing.T) {
	tpl := load(t)
	var got []string
	for _, event := range at(tpl.Resources["WebhooksFunction"].Properties, "Events") {
		p := at(event.(object), "Properties")
		if target(p["ApiId"]) != "HttpApi" {
			t.Errorf("a route belongs to the API %v", p["ApiId"])
		}
		if p["Path"] == nil {
			got = append(got, "$default")
			continue
		}
		got = append(got, fmt.Sprint(p["Method"], " ", p["Path"]))
	}
	want := []string{
		"$default",
		"DELETE /v1/webhooks/{id}",
		"GET /v1/webhooks",
		"GET /v1/webhooks/event-types",
		"GET /v1/webhooks/{id}",
		"PATCH /v1/webhooks/{id}",
		"POST /v1/webhooks",
		"POST /v1/webhooks/{id}/restore",
		"POST /v1/webhooks/{id}/rotate-secret",
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("routes are %q, want %q", got, want)
	}
}

func TestAPIStage(t *testing.T) {
	tpl := load(t)
	p := tpl.Resources["HttpApi"].Properties
	throttle := at(p, "DefaultRouteSettings")
	rate, burst := target(throttle["ThrottlingRateLimit"]), target(throttle["ThrottlingBurstLimit"])
	if rate != "ApiRateLimit" || burst != "ApiBurstLimit" {
		t.Errorf("the stage is throttled by %v", throttle)
	}
	access := at(p, "AccessLogSettings")
	format, _ := access["Format"].(string)
	var line map[string]string
	if err := json.Unmarshal([]byte(format), &line); err != nil || strings.Contains(format, "\n") {
		t.Fatalf("the access log is not one line of JSON: %v\n%s", err, format)
	}
	for _, key := range []string{"request_id", "route", "status", "ms"} {
		if line[key] == "" {
			t.Errorf("the access log lacks %s", key)
		}
	}
	for _, secret := range []string{"authorizer", "uthorization", "queryString", "$input"} {
		if strings.Contains(format, secret) {
			t.Errorf("the access log has %s", secret)
		}
	}
	if target(tpl.Resources[target(access["DestinationArn"])].Properties["RetentionInDays"]) != "LogRetentionDays" {
		t.Error("the access log is kept for ever")
	}
}

func TestOutputsForOperators(t *testing.T) {
	tpl := load(t)
	for _, name := range []string{
		"ApiUrl", "EventsQueueUrl", "EventsDeadLetterQueueUrl",
		"InspectFunctionName", "ReplayFunctionName", "ControlFunctionName", "ApikeysFunctionName",
		"EventPublishersPolicyArn", "InstanceManagersPolicyArn", "KeyIssuersPolicyArn",
	} {
		if o := tpl.Outputs[name]; o["Value"] == nil || o["Description"] == nil {
			t.Errorf("the output %s is missing or unexplained", name)
		}
	}
}
