package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// The acts on a tenant that end its keys.
const (
	revokeKeys  = "revoke_keys"
	compromised = "compromised"
)

// tenantActs are the acts of the forms on a tenant's page, by their paths.
func tenantActs() map[string]act {
	return map[string]act{
		"/tenant/" + api.Pause.Name:   onTenant("paused", targeted(api.Pause)),
		"/tenant/" + api.Limit.Name:   onTenant("limited", limitTenant),
		"/tenant/" + api.Unlimit.Name: onTenant("the limit was removed", targeted(api.Unlimit)),
		"/tenant/" + api.Allow.Name:   onTenant("allowed", allowTenant),
		parts.PauseMoved:              pauseMoved,
	}
}

// tenantAct acts on a tenant by a form.
type tenantAct func(ctx context.Context, s *Server, at api.Target, form url.Values) error

// onTenant is an act on a tenant, which leads back to its page.
func onTenant(done string, do tenantAct) act {
	return func(ctx context.Context, s *Server, form url.Values) (string, string, error) {
		id := form.Get("tenant_id")
		back := parts.Link("/tenant", "tenant_id", id)
		if id == "" { // an act of control without a target is about nothing
			return "", back, &usage.Fault{Field: "tenant_id", Text: "is required"}
		}
		err := do(ctx, s, api.Target{TenantID: id, Reason: form.Get("reason")}, form)
		return done, back, err
	}
}

// targeted is an act that needs no more than its target.
func targeted(action api.Action[api.Target, api.ControlAnswer]) tenantAct {
	return func(ctx context.Context, s *Server, at api.Target, _ url.Values) error {
		_, err := ask(ctx, s, action, at)
		return err
	}
}

func limitTenant(ctx context.Context, s *Server, at api.Target, form url.Values) error {
	rate, err := number(form, "rate_limit")
	if err == nil {
		_, err = ask(ctx, s, api.Limit, api.LimitRequest{Target: at, RateLimit: rate})
	}
	return err
}

func allowTenant(ctx context.Context, s *Server, at api.Target, form url.Values) error {
	perHost, err := number(form, "endpoints_per_host")
	if err == nil {
		_, err = ask(ctx, s, api.Allow, api.AllowRequest{Target: at, EndpointsPerHost: perHost})
	}
	return err
}

func number(form url.Values, name string) (int, error) {
	n, err := strconv.Atoi(form.Get(name))
	if err != nil {
		return 0, &usage.Fault{Field: name, Text: fmt.Sprintf("%q is not a whole number", form.Get(name))}
	}
	return n, nil
}

// pauseMoved pauses endpoints one by one. One that is paused already needs no pause, and hinders none of the others.
func pauseMoved(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	at := api.Target{TenantID: form.Get("tenant_id"), Reason: reasonOf(form)}
	back = parts.Link("/tenant", "tenant_id", at.TenantID)
	var missed []string
	paused := 0
	for _, id := range form["endpoint_id"] {
		at.EndpointID = id
		_, pauseErr := ask(ctx, s, api.Pause, at)
		if refused, is := errors.AsType[*api.Refusal](pauseErr); is && refused.Code == api.CodeAlreadyPaused {
			continue
		}
		if pauseErr != nil {
			missed = append(missed, id+": "+pauseErr.Error())
			continue
		}
		paused++
	}
	done = next.Number(paused, "endpoint was", "endpoints were") + " paused"
	if len(missed) > 0 {
		return "", back, errors.New(done + ", but not " + strings.Join(missed, "; "))
	}
	return done, back, nil
}

// reasonOf is why an act of the playbook is done.
func reasonOf(form url.Values) string { return cmp.Or(form.Get("reason"), compromised) }

// askRevoke asks about the keys of a tenant.
func askRevoke(ctx context.Context, s *Server, named url.Values) (question, error) {
	id := named.Get("tenant_id")
	keys, more, err := stack.GoodKeys(ctx, s.Stack, id)
	if err != nil {
		return question{}, err
	}
	q := question{Function: api.APIKeysRevoke, Typed: true, Count: len(keys), More: more}
	q.Asks = "End " + q.number("key", "keys") + " of " + answers.Shown(id) + " for good?"
	q.Label = "End " + q.number("key", "keys")
	q.Lists = []parts.Section{{Title: "Its keys", List: s.site.KeyList(url.Values{}, keys)}}
	return q, nil
}

// askCompromised asks the same, and says that the tenant is paused first.
func askCompromised(ctx context.Context, s *Server, named url.Values) (question, error) {
	q, err := askRevoke(ctx, s, named)
	q.Asks = "Pause " + answers.Shown(named.Get("tenant_id")) + ", and end " + q.number("key", "keys") + " for good?"
	q.Label = "Pause, and end " + q.number("key", "keys")
	q.Warnings = []string{"Its deliveries are held until it is resumed, and its owner is locked out of the API until " +
		"somebody issues a new key."}
	return q, err
}

// revokeAll ends all keys of a tenant, once their number was typed.
func revokeAll(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	id := form.Get("tenant_id")
	back = parts.Link("/tenant", "tenant_id", id)
	if form.Get(typed) == "" {
		return "", back, &usage.Fault{Field: typed, Text: "nothing was done: the number was not typed"}
	}
	request := api.RevokeAllRequest{TenantID: id, Confirm: true, Reason: reasonOf(form)}
	n, err := stack.RevokeAll(ctx, s.Stack, request)
	return next.Number(n, "key was", "keys were") + " ended", back, err
}

// endCompromised pauses a tenant before its keys end, so that nothing is sent to an endpoint that a thief has made. Its
// keys end as well if it is paused already, has no endpoint, or gets nothing since its marks are damaged.
func endCompromised(ctx context.Context, s *Server, form url.Values) (done, back string, err error) {
	id := form.Get("tenant_id")
	back = parts.Link("/tenant", "tenant_id", id)
	if form.Get(typed) == "" {
		return "", back, &usage.Fault{Field: typed, Text: "nothing was done: the number was not typed"}
	}
	_, err = ask(ctx, s, api.Pause, api.Target{TenantID: id, Reason: reasonOf(form)})
	pause := "paused"
	refused, is := errors.AsType[*api.Refusal](err)
	switch {
	case err == nil, is && refused.Code == api.CodeAlreadyPaused:
	case is && refused.Code == api.CodeNotFound:
		pause = "not paused, since it has no endpoint"
	case is && refused.Code == api.CodeUnreadable:
		pause = "not paused, since its stored marks are damaged and nothing is sent to it"
	default:
		return "", back, err
	}
	done, back, err = revokeAll(ctx, s, form)
	return pause + ", and " + done, back, err
}
