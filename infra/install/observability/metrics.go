// Package observability describes what Herald writes into CloudWatch, and makes of that a table of metrics for people
// and a dashboard for Grafana.
//
// It promises that the table has every metric that the functions count, with its unit, and that the dashboard shows
// what the stack's own dashboard shows. It reads the template and knows no stack.
package observability

import (
	"fmt"
	"strings"
)

//go:generate go run ./generate -root ../../..

// Metric is one of Herald's own metrics. Its namespace is Herald/ and the stage, its only dimension the service.
type Metric struct {
	Service, Name, Unit string
	Means               string
}

// Units, as CloudWatch has them.
const (
	count   = "Count"
	seconds = "Seconds"
	millis  = "Milliseconds"
)

// Metrics are all, by service. A share has a 1 for each that counts and a 0 for each of the others.
var Metrics = []Metric{
	{"fanout", "Faults", count, "share of events that met an internal fault; SampleCount is all events"},
	{"fanout", "EventsRejected", count, "messages that broke the rules for publishers"},
	{"fanout", "EventIdsReused", count, "events with the id of another event of their tenant"},
	{"fanout", "SchemaMismatches", count, "events that their schema does not fit, and that are delivered"},
	{"fanout", "SchemaChecksSkipped", count, "events whose check would have taken too long"},
	{"deliver", "Records", count, "messages received from queues"},
	{"deliver", "Faults", count, "share of deliveries that met an internal fault"},
	{"deliver", "FirstAttemptsAcknowledged", count, "share of first attempts with a 2xx"},
	{"deliver", "FirstAttemptSeconds", seconds, "from the event's SendMessage to the first POST; SlowQueue left out"},
	{"deliver", "AcknowledgedSeconds", seconds, "from the event's SendMessage to the 2xx; SampleCount is all of them"},
	{"deliver", "AttemptMillis", millis, "how long a POST took; SampleCount is all POSTs"},
	{"deliver", "Replayed", count, "first attempts of replays"},
	{"deliver", "HeartbeatsAcknowledged", count, "deliveries of the heartbeat's tenant with a 2xx"},
	{"deliver", "SlowTenants", count, "tenants that became slow"},
	{"deliver", "ResultsLost", count, "moves and records that AWS did not take: the sum of the next five"},
	{"deliver", "SendsLost", count, "moves to another queue, DeadLetterQueue included"},
	{"deliver", "LeasesLost", count, "leases of endpoints with held deliveries"},
	{"deliver", "BacklogPutsLost", count, "moves into Backlog"},
	{"deliver", "VisibilityLost", count, "waits on the queue itself"},
	{"deliver", "StateWritesLost", count, "records for operators"},
	{"deliver", "CircuitWritesLost", count, "results for a circuit, which then opens or closes a batch later"},
	{"deliver", "PreviousSecretsLost", count, "deliveries without the signature of the secret before"},
	{"release", "Runs", count, "runs that saw their work: one a minute"},
	{"release", "Released", count, "deliveries that left Backlog"},
	{"release", "BacklogLateSeconds", seconds, "how late the latest delivery was that left by its schedule"},
	{"release", "RateWaitSeconds", seconds, "how long the longest wait for an endpoint's limit was"},
	{"release", "EndpointsInTrouble", count, "endpoints that are failing, open or recovering"},
	{"release", "Faults", count, "internal faults that deliveries and endpoints met"},
	{"release", "NoticesRefused", count, "notices that EventBridge did not take"},
	{"deadletter", "Faults", count, "share of dead deliveries that met an internal fault"},
	{"deadletter", "Deaths", count, "deliveries that were sealed as dead letters"},
}

// Table is the metrics as Markdown.
func Table() string {
	var text strings.Builder
	text.WriteString("| service | metric | unit | means |\n|---|---|---|---|\n")
	for _, m := range Metrics {
		fmt.Fprintf(&text, "| `%s` | `%s` | %s | %s |\n", m.Service, m.Name, m.Unit, m.Means)
	}
	return text.String()
}
