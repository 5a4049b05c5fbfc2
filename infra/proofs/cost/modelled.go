package cost

import (
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// perItem are the units of DynamoDB that one item of a call of the model costs, its indexes included.
var perItem = map[string]usage{
	"Read Endpoints":       {reads: 2}, // the row and the tenant's marks
	"Read EndpointHealth":  {reads: 1}, // two halves
	"Scan EndpointHealth":  {reads: 1},
	"Read Deliveries":      {reads: 1},
	"Read Backlog":         {reads: 1},
	"Query by-due":         {reads: 0.5},
	"Write Deliveries":     {writes: 1},
	"Write EndpointHealth": {writes: 1},
	"Charge":               {writes: 1},
	"Take slots":           {writes: 1},
	"Write DeadLetters":    {writes: 2},
	"Put Backlog":          {writes: 2},
	"Delete Backlog":       {writes: 2},
	"Put back Backlog":     {writes: 3},
}

// Modelled is the price of the calls of deliver, release and deadletter on the model of AWS, and how many requests
// they are: the calls that it has counted, the invocations of deliver's mappings, and release's runs.
func Modelled(calls model.Usage, deliver []*model.Mapping, runs int) (asked int, dollars float64) {
	const memoryDeliver, memoryRelease = 0.5, 1.0 // GB
	const idle = 0.2                              // s, of a run that finds nothing to do
	var used usage
	for name, call := range calls {
		switch {
		case name == "POST", strings.HasPrefix(name, "KMS"), name == "answer", name == "Read EndpointHealth":
		case strings.HasPrefix(name, "Send"), strings.HasPrefix(name, "Change"):
			batches := max((call.Items+sqsBatch-1)/sqsBatch, call.Requests)
			asked += batches
			used[requests] += float64(batches)
		case strings.HasPrefix(name, "Put"), strings.HasPrefix(name, "Delete"):
			asked += call.Items
		default:
			asked += call.Requests
		}
		used = used.plus(float64(call.Items), perItem[name])
	}
	for _, m := range deliver {
		asked += 2 * m.Invocations // a receive and a delete
		used[requests] += 2 * float64(m.Invocations)
		used[invocations] += float64(m.Invocations)
		used[gbSeconds] += memoryDeliver * m.Busy.Seconds()
	}
	used[invocations] += float64(runs)
	used[gbSeconds] += memoryRelease * idle * float64(runs)
	return asked, used.all()
}
