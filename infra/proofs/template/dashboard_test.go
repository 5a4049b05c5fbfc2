package template

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/edges/audit"
)

// shown are the metrics of the dashboard.
func shown(t *testing.T, tpl template, s settings) (all []alarms.Metric) {
	t.Helper()
	s = maps.Clone(s)
	s["AWS::Region"] = "eu-central-1"
	body, err := resolve(tpl, s)(tpl.Resources["OverviewDashboard"].Properties["DashboardBody"])
	if err != nil {
		t.Fatal(err)
	}
	widgets, err := alarms.Widgets(body)
	if err != nil || len(widgets) == 0 {
		t.Fatalf("the dashboard shows %v: %v", widgets, err)
	}
	for _, widget := range widgets {
		for _, line := range widget.Lines {
			all = append(all, line.Metric)
		}
	}
	return all
}

// documented are metrics that AWS describes, by namespace: "Available CloudWatch metrics for Amazon SQS", "Types of
// metrics for Lambda functions", "DynamoDB Metrics and dimensions".
var documented = map[string]string{
	"AWS/SQS": "ApproximateAgeOfOldestMessage ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesVisible " +
		"NumberOfEmptyReceives NumberOfMessagesDeleted NumberOfMessagesReceived NumberOfMessagesSent",
	"AWS/Lambda": "ConcurrentExecutions Duration Errors Invocations Throttles",
	"AWS/DynamoDB": "ConsumedReadCapacityUnits ConsumedWriteCapacityUnits ReadThrottleEvents ThrottledRequests " +
		"WriteThrottleEvents",
}

// Those of Herald's own are proved by TestAlarms_onEveryDay.
func TestTheDashboardShowsMetricsThatAWSDescribes(t *testing.T) {
	tpl := load(t)
	for environment, s := range configurations(t, tpl) {
		for _, m := range shown(t, tpl, s) {
			if m.Namespace == "Herald/"+s["Stage"] {
				continue
			}
			if !slices.Contains(strings.Fields(documented[m.Namespace]), m.Name) {
				t.Errorf("%s: AWS describes no %s", environment, m)
			}
		}
	}
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	aliases = regexp.MustCompile(` as \w+`)
	named   = regexp.MustCompile(`@?\b[a-z_]+\b`)
	grammar = strings.Fields("filter display stats by and ispresent count sum avg bin m @timestamp @log")
)

// queried are the fields of every saved query, by its logical id.
func queried(t *testing.T, tpl template) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for id, r := range tpl.OfType("AWS::Logs::QueryDefinition") {
		query, _, _ := strings.Cut(r.Properties["QueryString"].(string), "| sort ")
		query = aliases.ReplaceAllString(quoted.ReplaceAllString(query, ""), "")
		for _, field := range named.FindAllString(query, -1) {
			if !slices.Contains(grammar, field) {
				all[id] = append(all[id], field)
			}
		}
		if len(all[id]) == 0 {
			t.Errorf("%s asks for nothing", id)
		}
	}
	return all
}

// The query of the audit log asks only for fields that its lines have.
func TestTheAuditLogsQueryNamesFieldsOfItsLines(t *testing.T) {
	var fields []string
	for field := range reflect.TypeFor[audit.Line]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	for _, name := range queried(t, load(t))["OperatorsQuery"] {
		if !slices.Contains(fields, name) {
			t.Errorf("no line of the audit log has %s", name)
		}
	}
}

// The console shows the saved query's answer.
func TestTheConsoleRunsTheSavedQueryOfShares(t *testing.T) {
	saved := load(t).OfType("AWS::Logs::QueryDefinition")["SharesQuery"].Properties["QueryString"]
	if got := strings.Join(strings.Fields(stack.SharesQuery), " "); got != saved {
		t.Errorf("the console asks\n%s\nand the saved query is\n%s", got, saved)
	}
}

// Throttles have no alarm. An operator who looks for the cause of another alarm finds them on the dashboard
// (infra/docs/ceilings.md).
func TestTheDashboardShowsThrottles(t *testing.T) {
	tpl := load(t)
	var all []string
	for _, m := range shown(t, tpl, configurations(t, tpl)["default"]) {
		all = append(all, m.String())
	}
	want := func(metric string, dimensions map[string]string) {
		t.Helper()
		namespace, name, _ := strings.Cut(metric, " ")
		if m := alarms.NewMetric(namespace, name, dimensions); !slices.Contains(all, m.String()) {
			t.Errorf("the dashboard lacks %s", m)
		}
	}
	for name := range tpl.OfType("AWS::DynamoDB::Table") {
		want("AWS/DynamoDB ReadThrottleEvents", map[string]string{"TableName": name})
		want("AWS/DynamoDB WriteThrottleEvents", map[string]string{"TableName": name})
	}
	for table, index := range map[string]string{"Deliveries": "open-by-endpoint", "Backlog": "by-due"} {
		want("AWS/DynamoDB WriteThrottleEvents", map[string]string{"TableName": table, "GlobalSecondaryIndexName": index})
	}
	for name, function := range tpl.OfType("AWS::Serverless::Function") {
		if len(mappingsOf(function.Properties)) > 0 {
			want("AWS/Lambda Throttles", map[string]string{"FunctionName": name})
		}
	}
}
