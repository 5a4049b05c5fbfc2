//go:build emulator

package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const capacity = "CapacityUnits"

// scaled returns the least and the most of each capacity that follows its use, by resource and dimension.
func scaled(t *testing.T, tpl template) map[string]string {
	t.Helper()
	all := map[string]string{}
	targets := tpl.OfType("AWS::ApplicationAutoScaling::ScalableTarget")
	for id, policy := range tpl.OfType("AWS::ApplicationAutoScaling::ScalingPolicy") {
		of := targets[target(policy.Properties["ScalingTargetId"])].Properties
		place, _ := at(of, "ResourceId")["Fn::Sub"].(string)
		dimension, _ := of["ScalableDimension"].(string)
		_, kind, _ := strings.Cut(strings.TrimPrefix(dimension, "dynamodb:"), ":")
		tracks := at(policy.Properties, "TargetTrackingScalingPolicyConfiguration")
		metric := at(tracks, "PredefinedMetricSpecification")["PredefinedMetricType"]
		if want := "DynamoDB" + strings.TrimSuffix(kind, capacity) + "CapacityUtilization"; metric != want {
			t.Errorf("%s scales %s by %v", id, dimension, metric)
		}
		if fmt.Sprint(tracks["TargetValue"]) != "70" || of["ServiceNamespace"] != "dynamodb" {
			t.Errorf("%s keeps %v %% of %v in use", id, tracks["TargetValue"], of)
		}
		least := target(of["MinCapacity"])
		if least == "" {
			least = fmt.Sprint(of["MinCapacity"])
		}
		all[place+" "+dimension] = least + " " + target(of["MaxCapacity"])
	}
	if len(all) != len(targets) {
		t.Errorf("%d policies of %d targets", len(all), len(targets))
	}
	return all
}

// places are a table and its indexes. Scaling's names for their capacities begin with the keys.
func places(id string, table object) map[string]object {
	all := map[string]object{"table/${" + id + "} dynamodb:table:": table}
	for _, index := range list(table["GlobalSecondaryIndexes"]) {
		properties := index.(object)
		all[fmt.Sprintf("table/${%s}/index/%s dynamodb:index:", id, properties["IndexName"])] = properties
	}
	return all
}

// A table and its indexes share one billing mode. A provisioned table without scaling would throttle at its initial
// capacity. So would an index without scaling, and it would also throttle the writes of its table.
func TestProvisionedTablesAreScaledWithTheirIndexes(t *testing.T) {
	tpl, want := translated(t, everything...), map[string]string{}
	for id, table := range tpl.OfType("AWS::DynamoDB::Table") {
		provisioned := table.Properties["BillingMode"] == "PROVISIONED"
		for place, properties := range places(id, table.Properties) {
			begins := at(properties, "ProvisionedThroughput")
			if (begins != nil) != provisioned {
				t.Errorf("%s begins with %v, in the mode %v", place, begins, table.Properties["BillingMode"])
			}
			for kind := range begins {
				want[place+kind] = "25 ProvisionedMaximum"
			}
		}
	}
	for _, hot := range []string{
		"table/${Endpoints} dynamodb:table:Read", "table/${Deliveries} dynamodb:table:Write",
		"table/${Deliveries}/index/open-by-endpoint dynamodb:index:Write",
	} {
		want[hot+capacity] = "ProvisionedMinimum ProvisionedMaximum"
	}
	if diff := cmp.Diff(want, scaled(t, tpl)); diff != "" {
		t.Errorf("what is scaled (-want +got):\n%s", diff)
	}
}

// AWS documents that scaling takes nothing back where the consumption is zero. A table or index that begins with 4,000
// units and is hardly used would cost, for good, more than provisioned capacity saves.
func TestOnlyWhatEveryDeliveryUsesBeginsWithMoreThanTheLeast(t *testing.T) {
	tpl, got := translated(t, everything...), map[string]string{}
	want := scaled(t, tpl)
	for id, table := range tpl.OfType("AWS::DynamoDB::Table") {
		for place, properties := range places(id, table.Properties) {
			for kind, units := range at(properties, "ProvisionedThroughput") {
				begins := target(units)
				if begins == "" {
					begins = fmt.Sprint(units)
				}
				got[place+kind] = begins
			}
		}
	}
	for place, bounds := range want {
		want[place], _, _ = strings.Cut(bounds, " ")
	}
	want["table/${Endpoints} dynamodb:table:Read"+capacity] = "4000"
	want["table/${Deliveries} dynamodb:table:Write"+capacity] = "4000"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what capacities begin with (-want +got):\n%s", diff)
	}
}

// Provisioned tables throttle for minutes in a burst. Two kinds of calls can bear that: the record of a delivery, and
// the read before it, which is tried again. A table with waiting deliveries must never throttle.
func TestTablesThatMeetBurstsAreOnDemand(t *testing.T) {
	for name, row := range map[string]struct {
		parameters []string
		want       []string
	}{
		"by default":                {nil, nil},
		"with provisioned capacity": {[]string{"ProvisionedCapacity=true"}, []string{"Deliveries", "Endpoints"}},
	} {
		var got []string
		tables := translated(t, row.parameters...).OfType("AWS::DynamoDB::Table")
		for _, id := range slices.Sorted(maps.Keys(tables)) {
			if tables[id].Properties["BillingMode"] != "PAY_PER_REQUEST" {
				got = append(got, id)
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" || len(tables) < 7 {
			t.Errorf("%s, %d tables, of them provisioned (-want +got):\n%s", name, len(tables), diff)
		}
	}
}

// The budget counts every resource with the stage's tag, and tells a topic of the actual and of the forecast cost.
func TestTheBudgetIsOfTheStagesTag(t *testing.T) {
	budget := translated(t, everything...).Resources["Budget"].Properties
	tag := object{"Fn::Join": []any{"$", []any{"user:herald:stage", object{"Ref": "Stage"}}}}
	want := object{
		"BudgetType": "COST", "TimeUnit": "MONTHLY", "CostFilters": object{"TagKeyValue": []any{tag}},
		"BudgetLimit": object{"Amount": object{"Ref": "MonthlyBudget"}, "Unit": "USD"},
	}
	if diff := cmp.Diff(want, at(budget, "Budget")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for topic, parameters := range map[string][]string{
		"TicketTopicArn": everything,
		"AlarmTopicArn":  {"MonthlyBudget=200", "AlarmTopicArn=arn:aws:sns:eu-central-1:111122223333:alarms"},
	} {
		told := map[any]string{}
		budget := translated(t, parameters...).Resources["Budget"].Properties
		for _, n := range list(budget["NotificationsWithSubscribers"]) {
			for _, by := range list(n.(object)["Subscribers"]) {
				told[at(n.(object), "Notification")["NotificationType"]] += target(by.(object)["Address"])
			}
		}
		if diff := cmp.Diff(map[any]string{"ACTUAL": topic, "FORECASTED": topic}, told); diff != "" {
			t.Errorf("who is told (-want +got):\n%s", diff)
		}
	}
}
