package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// idForms are the ids that lead to a page, wherever in a text they stand.
var idForms = []struct {
	form        *regexp.Regexp
	path, field string
}{
	{regexp.MustCompile(`\b(?:msg|test)_[A-Za-z0-9_-]{1,128}`), "/delivery", "delivery_id"},
	{regexp.MustCompile(`\bunreadable_[A-Za-z0-9_-]{1,128}`), "/letter", "delivery_id"},
	{regexp.MustCompile(`\bwebhook_[A-Za-z0-9_-]{1,128}`), "/endpoint", "endpoint_id"},
	{regexp.MustCompile(`\bjob_[A-Za-z0-9_-]{1,128}`), "/job", "job_id"},
}

// uuid is the form of an id that SQS gave a message: that of a rejected event, or of any event whose publisher gave it
// none.
var uuid = regexp.MustCompile(`\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`)

// find leads from a pasted text to the page of the id in it, and otherwise to a search.
func (s *Server) find(w http.ResponseWriter, r *http.Request) {
	pasted := r.URL.Query().Get("q")
	for _, k := range idForms {
		if id := k.form.FindString(pasted); id != "" && !ofTenant(pasted, id) {
			http.Redirect(w, r, s.site.Link(k.path, k.field, id), http.StatusSeeOther) //nolint:gosec // the console's own path
			return
		}
	}
	s.show("/find", view{template: "find", title: "Search", read: searchPage})(w, r)
}

// ofTenant reports whether an id is a part of a tenant's id, as job_42 is of org:job_42. The text endpoint_id=webhook_1
// could be a tenant's id as well, but the name of the field says what is meant.
func ofTenant(pasted, id string) bool {
	pasted = strings.TrimSpace(pasted)
	return event.ValidTenantID(pasted) && !strings.HasPrefix(pasted, id) && !strings.Contains(pasted, "_id")
}

// searched is what a text may be, beside a name of endpoints.
type searched struct {
	Text      string
	EventID   string
	MessageID string // of a rejected event
	Letters   parts.Section
}

// searchPage looks for a text that leads to no one page: a tenant's id, a description or a host, or an event's id.
func searchPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	pasted := q.Get("q")
	found := list{Table: &parts.Table{}}
	if pasted == "" {
		return found, nil
	}
	var rows []api.ListedEndpoint
	for _, of := range []api.EndpointsRequest{{TenantID: pasted}, {Description: pasted}, {Host: pasted}} {
		of.Page = few
		some, err := ask(ctx, s, api.ListEndpoints, of)
		if _, refused := errors.AsType[*api.Refusal](err); refused {
			continue // the text is no tenant's id, say
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, some.Data...)
	}
	found.Table = s.site.EndpointList(url.Values{}, unique(rows)).Or(
		"No tenant has this id, and no endpoint in trouble has this description or host.")
	as := searched{Text: pasted, EventID: strings.TrimSpace(pasted), MessageID: uuid.FindString(pasted)}
	if as.MessageID != "" {
		as.EventID = as.MessageID
	}
	letters, err := s.lettersOf(ctx, as.EventID, "")
	if _, refused := errors.AsType[*api.Refusal](err); err != nil && !refused { // refused: too long for an id
		return nil, err
	}
	as.Letters = parts.Section{Note: letters.Note}
	if len(letters.rows) > 0 {
		as.Letters.Title, as.Letters.List = "Dead letters of an event with this id", letters.List
	}
	found.More = as
	return found, nil
}

// unique leaves out endpoints that came before.
func unique(rows []api.ListedEndpoint) (some []api.ListedEndpoint) {
	seen := map[string]bool{}
	for _, e := range rows {
		if !seen[e.EndpointID] {
			some = append(some, e)
		}
		seen[e.EndpointID] = true
	}
	return some
}
