package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Fault is a wrong value in a field of a selection. The command line shows it with the field's flag, the console beside
// the field of its form.
type Fault struct {
	Field string // as requests name it: tenant_id, since
	Text  string
}

func (f *Fault) Error() string {
	return "--" + strings.ReplaceAll(strings.TrimSuffix(f.Field, "_id"), "_", "-") + ": " + f.Text
}

// Unwrap is the same fault as the end of a command.
func (f *Fault) Unwrap() error { return exit.With(exit.Usage, "%s", f.Error()) }

// Given is a selection as an operator writes it, in the flags of a line or in the fields of a form.
type Given struct {
	TenantID, EndpointID, EventID, Reason, Status string

	Since, Until                   string // died, or of rejected events sent
	PublishedSince, PublishedUntil string
}

// Selector reads a selection. An endpoint may still be a name in it, which inspect takes and replay does not. A time
// without a zone is in the zone of now.
func (g Given) Selector(now time.Time) (api.Selector, error) {
	of := api.Selector{TenantID: g.TenantID, EventID: g.EventID, Reason: g.Reason, Status: g.Status}
	var err error
	if g.EndpointID != "" {
		of.TenantID, of.EndpointID, err = place(g.TenantID, g.EndpointID)
	}
	if err == nil {
		of.Since, of.Until, err = span(died, g.Since, g.Until, now)
	}
	if err == nil {
		of.PublishedSince, of.PublishedUntil, err = span(published, g.PublishedSince, g.PublishedUntil, now)
	}
	return of, err
}

// exactly is a time in UTC, zero where none is given. An exact time keeps its milliseconds, which the end of a job's
// selection has; any other is to the second.
func exactly(field, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if exact, found := parsed(text, zoned); found {
		return exact.UTC().Truncate(time.Millisecond), nil
	}
	at, err := ParseTime(field, text, now)
	return at.UTC().Truncate(time.Second), err
}

// place is an endpoint by its id, or by its tenant and its host or description: TENANT/NAME.
func place(tenantID, given string) (tenant, name string, err error) {
	tenant, name = tenantID, given
	if before, after, both := strings.Cut(name, "/"); both && (tenant == "" || tenant == before) {
		tenant, name = before, after
	}
	if name == "" { // the tenant alone would be meant
		return "", "", &Fault{"endpoint_id", fmt.Sprintf("%q names no endpoint", given)}
	}
	return tenant, name, nil
}

// Resolve asks for the id of the endpoint that a selection names by its host or description.
func Resolve(ctx context.Context, functions stack.Functions, of api.Selector) (api.Selector, error) {
	if of.EndpointID == "" || strings.HasPrefix(of.EndpointID, endpoint.IDPrefix) {
		return of, nil
	}
	request := api.EndpointRequest{EndpointID: of.EndpointID, TenantID: of.TenantID}
	found, err := stack.Ask(ctx, functions, api.GetEndpoint, request)
	if err != nil {
		return of, err
	}
	if found.Fields.EndpointID == "" {
		return of, errors.New("the stack does not say which endpoint has that name")
	}
	of.EndpointID, of.TenantID = found.Fields.EndpointID, cmp.Or(found.Fields.TenantID, of.TenantID)
	return of, nil
}
