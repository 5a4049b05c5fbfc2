package template

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// checked are all configurations of samconfig.toml and the larger batches its comment offers.
func checked(t *testing.T) map[string]settings {
	t.Helper()
	tpl := load(t)
	all := configurations(t, tpl)
	large := maps.Clone(all["prod"])
	maps.Copy(large, settings{
		"BatchSize": "50", "BatchWindowSeconds": "1", "EndpointConcurrency": "50", "QueueVisibilitySeconds": "181",
	})
	all["prod with large batches"] = large
	return all
}

func TestNumbersThatDependOnEachOther(t *testing.T) {
	for environment, s := range checked(t) {
		t.Run(environment, func(t *testing.T) {
			n := func(name string) float64 { return s.number(t, name) }
			if got, want := n("QueueVisibilitySeconds"), 6*n("FunctionTimeoutSeconds")+n("BatchWindowSeconds"); got != want {
				t.Errorf("visibility is %v s, want 6 × function timeout + window = %v s", got, want)
			}
			rounds := math.Ceil(n("BatchSize") / n("EndpointConcurrency"))
			if need := rounds*n("AttemptTimeoutSeconds") + 2; need > n("FunctionTimeoutSeconds") {
				t.Errorf("a batch to one hanging endpoint takes %v s, the function has %v s", need, n("FunctionTimeoutSeconds"))
			}
			if n("ConnectTimeoutSeconds") > n("AttemptTimeoutSeconds") {
				t.Error("connecting may take longer than the whole attempt")
			}
			if got, least := n("RetryQueueMaxReceiveCount"), 5*(n("MaxRetries")+1); got < least {
				t.Errorf("RetryQueue's maxReceiveCount is %v: SQS may end what deliver still tries, %v at least", got, least)
			}
			if n("BatchSize") > 10 && n("BatchWindowSeconds") < 1 {
				t.Error("Lambda refuses batches above 10 without a window")
			}
			if n("ApiTimeoutSeconds") >= 30 {
				t.Error("API Gateway answers 503 before the function times out")
			}
			if n("OperatorTimeoutSeconds") > n("QueueVisibilitySeconds") {
				t.Error("rejected events reappear while an operator function still works on them")
			}
		})
	}
}

// sam deploy keeps the value of a parameter that is not named: who changes tables would get a mixture of both.
func TestTablesOfOneStackNameTheSameParameters(t *testing.T) {
	stack := regexp.MustCompile(`(?m)^stack_name = .*$`)
	first := map[string][]string{} // by stack
	for environment, table := range tables(t) {
		var names []string
		for _, match := range assignment.FindAllStringSubmatch(table, -1) {
			names = append(names, match[1])
		}
		slices.Sort(names)
		of := stack.FindString(table)
		if first[of] == nil {
			first[of] = names
		}
		if diff := cmp.Diff(first[of], names); diff != "" {
			t.Errorf("another table of %s (-) and %s (+) name:\n%s", of, environment, diff)
		}
	}
}

var substituted = regexp.MustCompile(`\$\{([\w:]+)[\w.]*\}`)

// Lambda takes 4 KB of environment, and CloudFormation finds out when it makes the function. Names are as long as
// a stack's of 53 characters in ap-southeast-1 makes them.
func TestEnvironmentsFitLambda(t *testing.T) {
	const table, queue, other = 53 + len("-EndpointHealth-1234567890123"), 128, 140
	tpl := load(t)
	longest := func(reference string) string {
		name := substituted.FindStringSubmatch(reference)[1]
		n := other
		if p := tpl.Parameters[name]; p != nil {
			n = 10 // digits, or an allowed value
			if p["Type"] == "String" && p["AllowedValues"] == nil {
				most, err := strconv.Atoi(fmt.Sprint(p["MaxLength"]))
				if n = most; err != nil {
					t.Errorf("%s needs a MaxLength: %v", name, err)
				}
			}
		} else if kind := tpl.Resources[name].Type; strings.HasSuffix(kind, "::Table") {
			n = table
		} else if kind == "AWS::SQS::Queue" {
			n = queue
		}
		return strings.Repeat("x", n)
	}
	for _, name := range functionsOf(tpl) {
		all := maps.Clone(at(tpl.Globals, "Function", "Environment", "Variables"))
		maps.Copy(all, at(tpl.Resources[name+"Function"].Properties, "Environment", "Variables"))
		size := 0
		for variable, value := range all {
			text := fmt.Sprint(value)
			if o, is := value.(object); is {
				text = substituted.ReplaceAllStringFunc(fmt.Sprint(o["Fn::Sub"]), longest)
			}
			size += len(variable) + len(text)
		}
		if size > 4096 {
			t.Errorf("%s's environment has up to %d bytes", name, size)
		}
	}
}

// A throttled invocation uses up a receive of each of its messages, where a redrive policy counts them.
func TestReservedConcurrencyCoversTheMappings(t *testing.T) {
	tpl := load(t)
	for environment, s := range checked(t) {
		need := map[string]float64{}
		for _, name := range functionsOf(tpl) {
			function := tpl.Resources[name+"Function"].Properties
			for _, p := range mappingsOf(function) {
				if tpl.Resources[target(p["Queue"])].Properties["RedrivePolicy"] != nil {
					limited := list(at(p, "ScalingConfig")["Fn::If"])
					need[name] += s.number(t, target(limited[1].(object)["MaximumConcurrency"]))
				}
			}
			choice := list(at(function, "ReservedConcurrentExecutions")["Fn::If"])
			if need[name] == 0 || len(choice) == 0 {
				continue
			}
			reserved, limited := s.number(t, target(choice[1])), s["LimitConcurrency"] == "true"
			if reserved != 0 && (reserved < need[name] || !limited) {
				t.Errorf("%s: %s reserves %v, its mappings may need %v or more", environment, name, reserved, need[name])
			}
		}
		if len(need) != 2 {
			t.Errorf("%s: queues with a redrive policy are consumed by %v", environment, need)
		}
	}
}

// A duplicate can still die after the whole schedule. The record of the acknowledgement has to live that long, or the
// delivery would count as dead. The longest schedule has all waits, attempts that time out, and a first Retry-After
// beyond DelaySeconds.
func TestRecordsOfAcknowledgedDeliveriesOutliveTheSchedule(t *testing.T) {
	for environment, s := range checked(t) {
		seconds := func(name string) time.Duration { return time.Duration(s.number(t, name)) * time.Second }
		schedule := retry.Schedule{
			Base: seconds("RetryBaseSeconds"), Factor: s.number(t, "RetryFactor"), MaxRetries: int(s.number(t, "MaxRetries")),
			Long: seconds("LongWaitSeconds"), MaxLife: 24 * 3600 * seconds("MaxLifeDays"),
		}
		if err := schedule.Validate(); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
		kept := 24 * 3600 * seconds("AcknowledgedDays")
		life := time.Duration(schedule.Last())*seconds("AttemptTimeoutSeconds") + retry.Cap
		for n := range schedule.MaxRetries {
			life += schedule.Wait(n+1, 1, 0, 0)
		}
		if life > min(kept, schedule.MaxLife) {
			t.Errorf("%s: a delivery is retried for up to %s, its acknowledgement kept for %s", environment, life, kept)
		}
	}
}

func TestOnlyTheLocalStageWidensEgress(t *testing.T) {
	for environment, s := range checked(t) {
		if environment == "local" {
			if s["Stage"] != "local" {
				t.Errorf("local has the stage %q", s["Stage"])
			}
			continue
		}
		if s["Stage"] == "local" || s["EgressAllowCidrs"] != "" || s["EgressAllowPorts"] != "" {
			t.Errorf("%s: stage %q, ranges %q, ports %q", environment, s["Stage"], s["EgressAllowCidrs"], s["EgressAllowPorts"])
		}
	}
}
