package stack

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// FindLetters searches the dead letters of an event, of its tenant or, without one, of all that are not replayed.
func FindLetters(
	ctx context.Context, functions Functions, eventID, tenantID string,
) (answers.List[api.DeadLetter], error) {
	of := api.Selector{TenantID: tenantID, EventID: eventID}
	if tenantID == "" {
		of.Status = string(deadletter.Dead)
	}
	found, err := Ask(ctx, functions, api.ListDeadLetters, api.DeadLettersRequest{
		Page: api.Page{Limit: new(MaxPage)}, Selector: of,
	})
	if err != nil {
		return answers.List[api.DeadLetter]{}, err
	}
	list, err := answers.ListOf[api.DeadLetter](found.JSON)
	if err != nil {
		return list, err
	}
	list.Note = lettersSearched(tenantID, list.NextCursor != nil)
	if tenantID != "" && len(list.Data) == 0 {
		list.Note += orNone(ctx, functions, tenantID)
	}
	return list, nil
}

// orNone adds to a note that the tenant may be a typing error. The search is done by then, and does not fail where that
// is not answered.
func orNone(ctx context.Context, functions Functions, tenantID string) string {
	has, err := HasEndpoints(ctx, functions, tenantID)
	switch {
	case err != nil:
		return "; whether the tenant has an endpoint was not answered: " + err.Error()
	case !has:
		return "; the tenant " + tenantID + " has no endpoint"
	}
	return ""
}

// HasEndpoints reports whether a tenant has an endpoint. One without any is more likely a typing error.
func HasEndpoints(ctx context.Context, functions Functions, tenantID string) (bool, error) {
	of := api.EndpointsRequest{Page: api.Page{Limit: new(1)}, TenantID: tenantID}
	found, err := Ask(ctx, functions, api.ListEndpoints, of)
	return len(found.Fields.Data) > 0, err
}

// lettersSearched says which dead letters a search has read.
func lettersSearched(tenantID string, more bool) string {
	switch {
	case tenantID != "" && more:
		return fmt.Sprintf("the tenant's %d latest dead letters were searched; a list of them by this event goes on",
			api.SearchedLetters)
	case tenantID != "":
		return "all dead letters of the tenant were searched"
	case more:
		return fmt.Sprintf("the %d latest dead letters were searched; with the tenant, all of its are", api.SearchedLetters)
	}
	return "all dead letters that are not replayed were searched; with the tenant, all of its are"
}

// FindRejected searches the rejected events for an event. Where its tenant is given, one that names no tenant is found
// as well. The note says how far the search went.
func FindRejected(ctx context.Context, functions Functions, eventID, tenantID string) (FoundRejected, error) {
	found, err := Ask(ctx, functions, api.ListRejected, api.RejectedRequest{
		Limit: new(MaxPage), EventID: eventID, TenantID: tenantID,
	})
	if err != nil {
		return FoundRejected{}, err
	}
	list := answers.List[Rejected]{JSON: found.JSON, Note: rejectedSearched(found.Fields)}
	for _, e := range found.Fields.Data {
		list.Data = append(list.Data, DescribeRejected(e))
	}
	return FoundRejected{list, found.Fields.Result}, nil
}

// FoundRejected are the rejected events with an event's id, and what came of the search for them.
type FoundRejected struct {
	answers.List[Rejected]

	Result api.Result
}

// rejectedSearched says what came of a search of rejected events.
func rejectedSearched(list api.RejectedList) string {
	switch list.Result {
	case api.ResultFound:
		return fmt.Sprintf("found among the %d that were searched", list.Searched)
	case api.ResultNotFound:
		return fmt.Sprintf("not found: all %d were searched", list.Searched)
	case api.ResultPart:
		return fmt.Sprintf("not found among %d: %s", list.Searched, list.Note)
	case api.ResultPublishing:
		return "not searched: " + list.Note
	}
	return list.Note
}
