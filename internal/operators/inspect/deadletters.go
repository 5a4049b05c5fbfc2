package inspect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// letterView shows dead letters with hosts and descriptions, which are no part of the letters: they are those of the
// endpoints as they are now.
type letterView struct {
	endpoints endpointReader
	log       *slog.Logger
}

// show reads each endpoint once. Where that fails, hosts and descriptions are missing, and nothing else.
func (v letterView) show(ctx context.Context, records []deadletter.Record) []api.DeadLetter {
	keys := make([]dynamo.EndpointKey, len(records))
	for n, r := range records {
		keys[n] = dynamo.EndpointKey{TenantID: r.TenantID, EndpointID: r.EndpointID}
	}
	endpoints, err := v.endpoints.named(ctx, keys)
	if err != nil {
		v.log.WarnContext(ctx, "the dead letters' endpoints could not be read", telemetry.Cause(err))
	}
	shown := make([]api.DeadLetter, len(records))
	for n, r := range records {
		e := endpoints[r.EndpointID].Endpoint
		shown[n] = api.DeadLetter{
			DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID, Host: e.Host(),
			Description: e.Description, EventID: r.EventID, EventType: r.EventType,
			Status: r.Status, Reason: r.Reason, Attempts: r.Attempts, LastStatus: r.LastStatus,
			CreatedAt: r.CreatedAt, DiedAt: r.DiedAt, ReplayCount: r.ReplayCount,
		}
	}
	return shown
}

// letterList lists dead letters, and opens none.
type letterList struct {
	letters   DeadLetters
	directory invoke.Directory
	view      letterView
}

// list lists by endpoint, tenant or status, narrowed by reason and time, latest death first. With an endpoint,
// the tenant is checked and selects nothing.
func (l letterList) list(
	ctx context.Context, call *invoke.Call, req api.DeadLettersRequest,
) (api.List[api.DeadLetter], error) {
	var none api.List[api.DeadLetter]
	wanted, err := selection(ctx, call, l.directory, req.Selector)
	if err != nil {
		return none, err
	}
	// A new field of Selector makes another filter, and voids the cursors that are out.
	filter := fmt.Sprint("dead_letters ", wanted)
	call.Note(slog.String("dead_letter_status", req.Status))
	// The index by endpoint has one tenant's letters. That it is the wanted tenant is checked below.
	if wanted.EndpointID != "" {
		wanted.TenantID = ""
	}
	page := dynamo.LetterPage{}
	if wanted.Narrowed() { // few may be like that among all, and a request has an end
		page.Most = api.SearchedLetters
	}
	read := func(limit int, start string) ([]api.DeadLetter, string, error) {
		page.Limit, page.Cursor = limit, start
		records, next, err := l.letters.List(ctx, wanted, page)
		for _, r := range records {
			err = errors.Join(err, invoke.CheckTenant(req.TenantID, r.TenantID))
		}
		if err != nil {
			return nil, "", err
		}
		return l.view.show(ctx, records), next, nil
	}
	return invoke.Paged(call, req.Page, filter, read)
}
