package simulate

import "strings"

// Prices in US dollars, us-east-1: aws.amazon.com/sqs/pricing, /lambda/pricing (arm64),
// /dynamodb/pricing/on-demand, as of 2026.
const (
	priceSQS        = 0.40 / 1e6
	priceInvocation = 0.20 / 1e6
	priceGBSecond   = 0.0000133334
	priceWrite      = 0.625 / 1e6
	priceRead       = 0.125 / 1e6

	memoryDeliver = 0.5 // GB
	memoryRelease = 1.0
	releaseTakes  = 0.2 // s, of a run that finds nothing to do
)

// perItem are the units of DynamoDB that one item of a call costs, its indexes included.
var perItem = map[string]float64{
	"Read Endpoints":       2 * priceRead, // the row and the tenant's marks
	"Read EndpointHealth":  priceRead,     // two halves
	"Scan EndpointHealth":  priceRead,
	"Read Deliveries":      priceRead,
	"Read Backlog":         priceRead,
	"Query by-due":         priceRead / 2,
	"Write Deliveries":     priceWrite,
	"Write EndpointHealth": priceWrite,
	"Charge":               priceWrite,
	"Write DeadLetters":    2 * priceWrite,
	"Put Backlog":          2 * priceWrite,
	"Delete Backlog":       2 * priceWrite,
	"Put back Backlog":     3 * priceWrite,
}

// bill counts deliver's, release's and deadletter's requests to AWS, fan-out apart.
func (w *world) bill() (requests int, dollars float64) {
	for name, asked := range w.Used {
		switch {
		case name == "POST", strings.HasPrefix(name, "KMS"), name == "answer", name == "Read EndpointHealth":
		case strings.HasPrefix(name, "Send"), strings.HasPrefix(name, "Change"):
			calls := (asked.Items + 9) / 10
			calls = max(calls, asked.Requests)
			requests += calls
			dollars += priceSQS * float64(calls)
		case strings.HasPrefix(name, "Put"), strings.HasPrefix(name, "Delete"):
			requests += asked.Items
		default:
			requests += asked.Requests
		}
		dollars += perItem[name] * float64(asked.Items)
	}
	for _, m := range w.maps {
		requests += 2 * m.Invocations // a receive and a delete
		dollars += float64(m.Invocations)*(2*priceSQS+priceInvocation) + priceGBSecond*memoryDeliver*m.Busy.Seconds()
	}
	runs := float64(w.stats.runs)
	return requests, dollars + runs*(priceInvocation+priceGBSecond*memoryRelease*releaseTakes)
}
