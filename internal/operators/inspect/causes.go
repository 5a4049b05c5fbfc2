package inspect

import (
	"cmp"
	"context"
	"slices"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The most that are counted and shown: dead letters, the latest deaths first, and causes.
const (
	maxDeaths = 20_000
	maxCauses = 50
)

// causeList counts causes of death, in the latest deaths: an incident is seen in them, and reading all would not end.
type causeList struct {
	letters   DeadLetters
	directory invoke.Directory
	endpoints endpointReader
	health    healthView
}

// list counts dead letters, selected or all that are not replayed, by endpoint and reason.
func (l causeList) list(ctx context.Context, call *invoke.Call, req job.Selector) (api.Causes, error) {
	req.Status = cmp.Or(req.Status, string(deadletter.Dead))
	req, err := selection(ctx, call, l.directory, req)
	if err != nil {
		return api.Causes{}, err
	}
	found, err := l.latest(ctx, req)
	if err != nil {
		return api.Causes{}, err
	}
	return l.causes(ctx, found)
}

// deaths are the latest deaths of a selection, the latest first.
type deaths struct {
	letters []deadletter.Record

	// There are earlier ones.
	more bool
}

// latest reads the latest deaths. All partitions of the index are read at the same time, and of 10,000 letters that is
// one call for each.
func (l causeList) latest(ctx context.Context, s job.Selector) (deaths, error) {
	page := dynamo.LetterPage{Limit: maxDeaths, Causes: true}
	if s.Narrowed() { // few may be like that among all
		page.Most = api.SearchedLetters
	}
	letters, next, err := l.letters.List(ctx, s, page)
	return deaths{letters, next != ""}, err
}

// causes counts the deaths by endpoint and reason, and names the endpoints.
func (l causeList) causes(ctx context.Context, d deaths) (api.Causes, error) {
	found := api.Causes{Data: countCauses(d.letters), More: d.more}
	if len(found.Data) > maxCauses {
		found.Data, found.More = found.Data[:maxCauses], true
	}
	return found, l.name(ctx, found.Data)
}

// countCauses counts letters by endpoint and reason, the most frequent first. It wants the latest deaths first, so that
// the first letter of a cause is its latest.
func countCauses(letters []deadletter.Record) []api.Cause {
	type cause struct {
		endpoint string
		reason   delivery.Reason
	}
	at, causes := map[cause]int{}, []api.Cause{}
	for _, l := range letters {
		key := cause{l.EndpointID, l.Reason}
		n, known := at[key]
		if !known {
			n = len(causes)
			at[key] = n
			causes = append(causes, api.Cause{
				TenantID: l.TenantID, EndpointID: l.EndpointID, Reason: l.Reason, LastStatus: l.LastStatus,
				LatestDiedAt: l.DiedAt,
			})
		}
		causes[n].Count++
		causes[n].FirstDiedAt = l.DiedAt
	}
	slices.SortStableFunc(causes, func(a, b api.Cause) int { return b.Count - a.Count })
	return causes
}

// name adds host, description and state of the endpoints. A cause without an endpoint keeps its empty fields.
func (l causeList) name(ctx context.Context, causes []api.Cause) error {
	keys := make([]dynamo.EndpointKey, len(causes))
	for n, c := range causes {
		keys[n] = dynamo.EndpointKey{TenantID: c.TenantID, EndpointID: c.EndpointID}
	}
	endpoints, err := l.endpoints.named(ctx, keys)
	for n, c := range causes {
		if f, found := endpoints[c.EndpointID]; found {
			causes[n].Host = f.Endpoint.Host()
			causes[n].Description = f.Endpoint.Description
			causes[n].State = l.health.state(f)
		}
	}
	return err
}
