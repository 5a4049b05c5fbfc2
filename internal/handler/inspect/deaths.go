package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Cause is an endpoint, and a cause of death of its deliveries.
type Cause struct {
	TenantID     string          `json:"tenant_id"` // empty, as the endpoint, of unreadable messages
	EndpointID   string          `json:"endpoint_id"`
	Host         string          `json:"host"`
	Description  string          `json:"description"`
	State        string          `json:"state"` // of the endpoint, now
	Reason       delivery.Reason `json:"reason"`
	LastStatus   int             `json:"last_status"` // of the latest death; 0: no response
	Count        int             `json:"count"`
	FirstDiedAt  time.Time       `json:"first_died_at"`
	LatestDiedAt time.Time       `json:"latest_died_at"`
}

// Causes are causes of death, the most frequent first.
type Causes struct {
	Data []Cause `json:"data"`
	More bool    `json:"more"` // there are more dead letters than were counted, or more causes than are shown
}

// The most that are counted and shown: dead letters, the latest deaths first, and causes.
const (
	maxDeaths  = 20_000
	deathsPage = 2000 // less than the 1 MB of a call
	maxCauses  = 50
)

// causes counts dead letters, selected or all that are not replayed, by endpoint and reason.
func (h *Handler) causes(ctx context.Context, call *operator.Call, req job.Selector) (Causes, error) {
	req.Status = cmp.Or(req.Status, string(deadletter.Dead))
	req, err := h.selection(ctx, call, req)
	if err != nil {
		return Causes{}, err
	}
	var letters []deadletter.Record
	var next string
	for len(letters) < maxDeaths {
		page, after, err := h.DeadLetters.List(ctx, req, dynamo.LetterPage{Limit: deathsPage, Cursor: next})
		if err != nil {
			return Causes{}, err
		}
		letters = append(letters, page...)
		if next = after; next == "" {
			break
		}
	}
	found := Causes{Data: countCauses(letters), More: next != ""}
	if len(found.Data) > maxCauses {
		found.Data, found.More = found.Data[:maxCauses], true
	}
	return found, h.nameEndpoints(ctx, found.Data)
}

// countCauses wants the latest deaths first.
func countCauses(letters []deadletter.Record) []Cause {
	type cause struct {
		endpoint string
		reason   delivery.Reason
	}
	at, causes := map[cause]int{}, []Cause{}
	for _, l := range letters {
		key := cause{l.EndpointID, l.Reason}
		n, known := at[key]
		if !known {
			n = len(causes)
			at[key] = n
			causes = append(causes, Cause{
				TenantID: l.TenantID, EndpointID: l.EndpointID, Reason: l.Reason, LastStatus: l.LastStatus,
				LatestDiedAt: l.DiedAt,
			})
		}
		causes[n].Count++
		causes[n].FirstDiedAt = l.DiedAt
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return b.Count - a.Count })
	return causes
}

// nameEndpoints adds host, description and state.
func (h *Handler) nameEndpoints(ctx context.Context, causes []Cause) error {
	keys := make([]dynamo.EndpointKey, len(causes))
	for n, c := range causes {
		keys[n] = dynamo.EndpointKey{TenantID: c.TenantID, EndpointID: c.EndpointID}
	}
	endpoints, err := h.readNamed(ctx, keys)
	for n, c := range causes {
		if f, found := endpoints[c.EndpointID]; found {
			causes[n].Host, causes[n].Description, causes[n].State = f.Endpoint.Host(), f.Endpoint.Description, f.State()
		}
	}
	return err
}
