package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The constants are limits of AWS from its documentation. Where a limit can be raised, it is the default of a new
// account.
const (
	partitionReads  = 3000.0    // DynamoDB, "Best practices for designing partition keys": units a second
	partitionWrites = 1000.0    // likewise, of an index, too
	newTableWrites  = 4000.0    // DynamoDB, "On-demand capacity mode": of a table that was never busier
	mostTableWrites = 40_000.0  // DynamoDB, "Quotas": a table's
	mostInFlight    = 120_000.0 // SQS, "Amazon SQS standard queue quotas"
	mostKeyCalls    = 10_000.0  // KMS, "Request quotas": symmetric, in the smaller Regions, a second
	mostConcurrent  = 1000.0    // Lambda, "Lambda quotas": an account's, in a Region
	morePerSecond   = 300.0 / 60
)

// Units of one item, which TestTheUnitsOfCeilings counts.
const (
	unitsOfRow     = 1.0   // a strongly consistent read of an endpoint of up to 4 KB
	unitsOfRows    = 6.0   // the same of fifty, in one Query
	unitsOfEntry   = 1.0   // a write to an index
	unitsOfCircuit = 1.0   // a write of a circuit, or of a tenant's account
	unitsOfLargest = 251.0 // a write of an item of Backlog with a body of 250 KB
)

// ceiling is one limit: the load that reaches it, the consequence, and the alarm that tells.
type ceiling struct {
	name, sum, reached, then string
	alarms                   []string // logical ids
	silent                   string   // why there is no alarm
}

// parameters are the numbers of the template's parameters.
type parameters func(name string) float64

// distinct is how many of so many different ones a batch has, on average.
func distinct(of, batch float64) float64 { return of * (1 - math.Pow(1-1/of, batch)) }

// tenantEvents returns the rate of events at which reads of the tenant's partition reach their limit. A partition is
// read once for the subscriptions of each batch of events, and once for each endpoint in each batch of deliveries.
func tenantEvents(endpoints, batch float64) float64 {
	perEvent := endpoints/batch*distinct(endpoints, batch)*unitsOfRow + unitsOfRows/batch
	return partitionReads / perEvent
}

// rampDelay returns the longest delay of deliveries while Lambda adds processes, from idle to so many deliveries a
// second. It also returns the time after which there are enough processes.
func rampDelay(perSecond, batch, batchSeconds float64) (late, enough float64) {
	enough = max(0, (perSecond*batchSeconds/batch-pollers)/morePerSecond)
	done := batch / batchSeconds * (pollers*enough + morePerSecond*enough*enough/2)
	return max(0, enough-done/perSecond), enough
}

// retryWaits is the time that a delivery waits on RetryQueue while every attempt fails, at most.
func retryWaits(p parameters) (sum float64) {
	wait := p("RetryBaseSeconds")
	for range int(p("MaxRetries")) {
		if wait > p("LongWaitSeconds") {
			break
		}
		sum += 1.2 * wait
		wait *= p("RetryFactor")
	}
	return sum
}

const shards = float64(backlog.Shards)

// inShards is the sum of a list in shards, of which one item costs so much.
func inShards(each string) string {
	return fmt.Sprintf("%.0f shards × %s writes a second, %s", shards, grouped(partitionWrites), each)
}

// grouped is a whole number with a comma before each three digits.
func grouped(n float64) string {
	text := strconv.Itoa(int(n))
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// tenantCeilings are those that one tenant or endpoint can meet.
func tenantCeilings(p parameters) []ceiling {
	batch := p("BatchSize")
	perTenant := tenantEvents(endpoint.MaxLive, batch)
	slots := itemCeiling(p, "an endpoint's slots", "two a second at most while a flood beyond the limit begins", 2,
		"its own deliveries meet internal faults, and are tried again; "+
			"others in a batch with them wait 0.5 s, every 2 s at most", "")
	slots.alarms = []string{"DeliverFaultsAlarm"}
	return []ceiling{
		{
			"a tenant's endpoints, which are one partition", fmt.Sprintf(
				"%s reads a second; of %d endpoints a batch of %.0f deliveries reads %.1f, and one of events %.0f units",
				grouped(partitionReads), endpoint.MaxLive, batch, distinct(endpoint.MaxLive, batch), unitsOfRows),
			fmt.Sprintf("%.0f events/s for all %d", perTenant, endpoint.MaxLive),
			"its own deliveries meet internal faults, and are tried again",
			[]string{"DeliverFaultsAlarm", "FanoutFaultsAlarm"}, "",
		},
		{
			"an endpoint's open deliveries: `open-by-endpoint`",
			inShards("one for a delivery that fails first or is held"),
			grouped(shards*partitionWrites/unitsOfEntry) + " failing/s",
			"records of all deliveries are throttled, and the dead wait on DeadLetterQueue",
			[]string{"ResultsLostAlarm", "DeadletterFaultsAlarm"}, "",
		},
		{
			"dead letters of a tenant or an endpoint: `by-tenant`, `by-endpoint`",
			grouped(partitionWrites) + " writes a second to one partition, one for a death",
			grouped(partitionWrites/unitsOfEntry) + " deaths/s", "the dead of all tenants wait on DeadLetterQueue",
			[]string{"DeadletterFaultsAlarm", "DeadLettersStuckAlarm"}, "",
		},
		itemCeiling(p, "an endpoint's circuit", "two a second at most, as one that meets another's is made again", 2,
			"it opens late", "it costs time, and the writes end when the circuit opens"),
		slots,
		itemCeiling(p, "a tenant's account", "one a second", 1,
			"it is found slow late", "it costs time; its deliveries have what they need"),
		{
			"an endpoint's events of 250 KB in Backlog",
			inShards(fmt.Sprintf("%.0f for each", unitsOfLargest)),
			fmt.Sprintf("%.0f deliveries/s", math.Floor(shards*partitionWrites/unitsOfLargest)),
			"they wait on their queue, 15 minutes at a time", []string{"ResultsLostAlarm"}, "",
		},
	}
}

// itemCeiling is the ceiling of one item of EndpointHealth that every process of deliver writes. perProcess is how
// often one process writes it in a second, and often says the same in words.
func itemCeiling(p parameters, name, often string, perProcess float64, then, silent string) ceiling {
	const mappings = 3
	processes := p("DeliverMaximumConcurrency")
	return ceiling{
		name, grouped(partitionWrites) + " writes a second to one item; each process of three mappings makes " + often,
		fmt.Sprintf("`DeliverMaximumConcurrency` %.0f; %s/s with %.0f",
			math.Floor(partitionWrites/mappings/perProcess/unitsOfCircuit),
			grouped(mappings*processes*perProcess*unitsOfCircuit), processes),
		then, nil, silent,
	}
}

// stackCeilings are those that all tenants meet together.
func stackCeilings(p parameters) []ceiling {
	batch, processes := p("BatchSize"), p("DeliverMaximumConcurrency")
	functions := 3*processes + 2*p("MaximumConcurrency")
	return []ceiling{
		{
			"deaths: `by-status`", inShards("one for a death"),
			grouped(shards*partitionWrites/unitsOfEntry) + " deaths/s", "the dead wait on DeadLetterQueue",
			[]string{"DeadletterFaultsAlarm", "DeadLettersStuckAlarm"}, "",
		},
		{
			"a table's writes: Deliveries", fmt.Sprintf(
				"a new one takes %s a second, later twice its highest rate before, at most %s; one for a delivery",
				grouped(newTableWrites), grouped(mostTableWrites)),
			grouped(newTableWrites) + " deliveries/s", "records are lost, no delivery; the dead wait on DeadLetterQueue",
			[]string{"ResultsLostAlarm", "DeadletterFaultsAlarm"}, "",
		},
		{
			"a table's writes: Backlog, with events of 250 KB", fmt.Sprintf(
				"likewise, %.0f for each, and one of its index", unitsOfLargest),
			fmt.Sprintf("%.0f deliveries/s", math.Floor(newTableWrites/(unitsOfLargest+unitsOfEntry))),
			"all that should wait there waits on its queue, 15 minutes at a time", []string{"ResultsLostAlarm"}, "",
		},
		{
			"messages in flight on RetryQueue", fmt.Sprintf(
				"%s; a delivery that keeps failing waits there for %.0f s", grouped(mostInFlight), retryWaits(p)),
			fmt.Sprintf("%.0f failing/s", math.Floor(mostInFlight/retryWaits(p))), "no retry is received, silently",
			[]string{"InFlightAlarm"}, "",
		},
		{
			"messages in flight on DeliveryQueue", fmt.Sprintf(
				"%s; %.0f processes hold %s", grouped(mostInFlight), processes, grouped(processes*batch)),
			"`DeliverMaximumConcurrency` × `BatchSize` " + grouped(mostInFlight), "no first attempt, silently",
			[]string{"InFlightAlarm", "DeliveryAgeAlarm"}, "",
		},
		{
			"concurrent executions", fmt.Sprintf(
				"an account has %s; 3 × %.0f are for `deliver`, 2 × %.0f for `fanout` and `deadletter`",
				grouped(mostConcurrent), processes, p("MaximumConcurrency")),
			fmt.Sprintf("%.0f for all else in the account", mostConcurrent-functions),
			"throttled invocations use up receives", []string{"ThrottlesAlarm"}, "",
		},
		{
			"KMS", fmt.Sprintf(
				"%s calls a second of the account, whatever the key; one for a secret or headers new to a process",
				grouped(mostKeyCalls)),
			grouped(mostKeyCalls) + " deliveries/s, all with such secrets",
			"deliveries meet internal faults", []string{"DeliverFaultsAlarm"}, "",
		},
		rampCeiling(1000, batch, 1.11),
		{
			"endpoints that begin to fail: `listed`", grouped(partitionWrites) + " writes a second to one partition",
			grouped(partitionWrites) + " endpoints/s", "their circuits open late", nil, "it costs time",
		},
	}
}

func rampCeiling(perSecond, batch, batchSeconds float64) ceiling {
	late, enough := rampDelay(perSecond, batch, batchSeconds)
	return ceiling{
		"from idle to " + grouped(perSecond) + "/s", fmt.Sprintf(
			"Lambda begins with %d processes and adds %.0f a second; %.0f are needed where a batch takes %.2f s",
			pollers, morePerSecond, perSecond*batchSeconds/batch, batchSeconds),
		fmt.Sprintf("%.0f s late, after %.0f s", late, enough), "it catches up; once for each such rise", nil,
		"`FirstAttemptsLateAlarm` begins where it lasts for 15 minutes",
	}
}

// chosen are limits that Herald sets. They hold work back on purpose, and that work waits.
func chosen(p parameters) []ceiling {
	rules := circuit.New(time.Minute, 0)
	paces := float64(rules.PaceBudget) / rules.SlotsAhead().Seconds()
	hang := p("DeliverMaximumConcurrency") * p("BatchSize") / p("AttemptTimeoutSeconds")
	return []ceiling{
		{
			"the management API",
			"`ApiRateLimit`, of all tenants; `ApiKeyRequestsPerMinute`, of a key; its counter takes " +
				grouped(partitionWrites) + "/s",
			fmt.Sprintf("%.0f/s; %.0f/min", p("ApiRateLimit"), p("ApiKeyRequestsPerMinute")), "429", nil,
			"it is said to the caller",
		},
		{
			"attempts of slow tenants that hang", "`DeliverMaximumConcurrency` × `BatchSize` ÷ `AttemptTimeoutSeconds`",
			fmt.Sprintf("%.0f/s", hang), "slow tenants wait for each other", []string{"SlowQueueAgeAlarm"}, "",
		},
		{
			"deliveries that wait for the rates of endpoints", "`release` takes " + grouped(float64(rules.PaceBudget)) +
				" slots a run, of the 75 s ahead", grouped(paces) + "/s",
			"tenants have equal shares, and their endpoints below their limits wait for longer",
			[]string{"RateWaitAlarm"}, "",
		},
	}
}

// ceilingsText renders the generated part of the page.
func ceilingsText(p parameters) string {
	var t tables
	for _, part := range []struct {
		head string
		rows []ceiling
	}{
		{"one tenant or endpoint", tenantCeilings(p)}, {"all together", stackCeilings(p)}, {"by choice", chosen(p)},
	} {
		t.head(part.head, "because", "reached at", "then", "alarm")
		for _, c := range part.rows {
			told := "none: " + c.silent
			if len(c.alarms) > 0 {
				told = "`" + strings.Join(c.alarms, "`, `") + "`"
			}
			t.line("%s | %s | %s | %s | %s", c.name, c.sum, c.reached, c.then, told)
		}
	}
	return t.String()
}
