package template

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
)

// The functions seal the secrets themselves. A key of the account for the rest would be billed by the request
// (infra/decisions/0023-tables-under-keys-that-aws-owns.md).
func TestTablesAreEncryptedUnderKeysThatAWSOwns(t *testing.T) {
	for name, table := range load(t).OfType("AWS::DynamoDB::Table") {
		if table.Properties["SSESpecification"] != nil {
			t.Errorf("%s has a key that is billed by the request", name)
		}
	}
}

// Some parameters belong together. CloudFormation refuses one without the other before it creates anything.
func TestRulesRefuseHalves(t *testing.T) {
	tpl := load(t)
	pairs := map[string]string{
		"VpcSubnetIds": "VpcSecurityGroupIds", "VpcSecurityGroupIds": "VpcSubnetIds",
		"DomainName": "CertificateArn", "CertificateArn": "DomainName",
	}
	defaults := configurations(t, tpl)["default"]
	for given, needed := range pairs {
		half := maps.Clone(defaults)
		half[given] = "given"
		want := []string{given + " is set and needs " + needed}
		if diff := cmp.Diff(want, half.refused(t, tpl)); diff != "" {
			t.Errorf("%s alone (-want +got):\n%s", given, diff)
		}
		half[needed] = "given"
		if refused := half.refused(t, tpl); len(refused) != 0 {
			t.Errorf("%s with %s: %q", given, needed, refused)
		}
	}
	for given, needed := range map[string][2]string{
		"DisableExecuteApiEndpoint=true": {"DomainName=given", "DomainName"},
		"ReplicaRegions=eu-west-1":       {"MultiRegionKeys=yes", "MultiRegionKeys=yes"},
		"MonthlyBudget=200":              {"TicketTopicArn=given", "TicketTopicArn or AlarmTopicArn"},
	} {
		half := maps.Clone(defaults)
		name, value, _ := strings.Cut(given, "=")
		half[name] = value
		said := strings.Join(half.refused(t, tpl), "; ")
		if !strings.HasPrefix(said, name) || !strings.HasSuffix(said, " needs "+needed[1]) {
			t.Errorf("%s alone: %q", given, said)
		}
		name, value, _ = strings.Cut(needed[0], "=")
		half[name] = value
		if said = strings.Join(half.refused(t, tpl), "; "); strings.Contains(said, given) {
			t.Errorf("%s with %s: %q", given, needed[0], said)
		}
	}
	if refused := defaults.refused(t, tpl); len(refused) != 0 {
		t.Errorf("the defaults: %q", refused)
	}
}

// refused returns the messages of the rules that refuse these settings.
func (s settings) refused(t *testing.T, tpl template) (said []string) {
	t.Helper()
	for name := range tpl.Rules {
		for _, assertion := range list(at(tpl.Rules, name)["Assertions"]) {
			if a := assertion.(object); !s.holds(t, a["Assert"]) {
				said = append(said, fmt.Sprint(a["AssertDescription"]))
			}
		}
	}
	return said
}

// The metrics of a new stack begin minutes after its alarms do.
func TestAlarms_waitForANewStack(t *testing.T) {
	tpl := load(t)
	created := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	runs := alarms.NewMetric("Herald/default", "Runs", map[string]string{"service": "release"})
	polled := alarms.NewMetric("AWS/SQS", "ApproximateNumberOfMessagesVisible",
		map[string]string{"QueueName": "RetryQueue"})
	for name, row := range map[string]struct {
		runsFrom, polledFrom int // minutes after the creation
		raised               []string
	}{
		"release first":     {2, 15, nil},
		"the queue first":   {4, 1, nil},
		"release never ran": {60, 1, []string{"ReleaseRunsMissingAlarm"}},
	} {
		var data alarms.Data
		for minute := range 60 {
			at := created.Add(time.Duration(minute)*time.Minute + 30*time.Second)
			if minute >= row.runsFrom {
				data.Put(runs, at, 1)
			}
			if minute >= row.polledFrom {
				data.Put(polled, at, 0)
			}
		}
		var raised []string
		for id, a := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
			changes, err := a.History(&data, created, created.Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				if c.State == alarms.InAlarm {
					raised = append(raised, id)
				}
			}
		}
		if diff := cmp.Diff(row.raised, raised); diff != "" {
			t.Errorf("%s: alarms (-want +got):\n%s", name, diff)
		}
	}
}
