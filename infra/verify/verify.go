// Package verify proves a deployed stack end to end, from outside: as a tenant over the HTTP API, as the auth
// service through the events queue, as a receiver over HTTPS, as an operator through the functions.
//
// It promises that each step it reports was observed, that a step which fails names the link of the chain at
// which the event got stuck, that it touches nothing of any tenant but its own, and that it removes what it
// made, at its end and, for a run that was interrupted, at the next start. Steps that a stack's schedule or the
// local stack cannot show are reported as not shown, with the reason.
package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// Tenant owns everything that a run makes. One run at a time: the next one clears away what it finds.
const Tenant = "herald-verify"

// Config says what is verified, and how. All fields are required.
type Config struct {
	Client   *client.Client
	Receiver Receiver
	Name     string        // of the stack
	Local    bool          // no alarms, no AWS of its own
	Schedule time.Duration // from the first attempt to the last
	Patience time.Duration // for anything that takes a working stack seconds
	Progress func(Result)  // is told of each step when it has ended
}

// Result is what became of a step.
type Result struct {
	Step  string
	State State
	Says  string // what was observed, what broke, or why it is not shown
	Took  time.Duration
}

// State of a step.
type State string

// The states of a step.
const (
	Held     State = "held"
	Broken   State = "broken"
	NotShown State = "not shown"
)

// step is one proof. Its text says what was observed; a notShown error says why there is nothing to see.
type step struct {
	name string
	run  func(context.Context, *run) (string, error)
}

// steps are in the order of their dependence: each uses the endpoint of the second.
var steps = []step{
	{"leftovers of an earlier run are removed", clearAway},
	{"a tenant gets a key, and registers an endpoint", register},
	{"all events arrive, verified and byte for byte", everyEvent},
	{"an attempt that fails is made again", recovery},
	{"of a batch, a bad event is rejected and the good ones arrive", badAmongGood},
	{"a rotated secret signs the next delivery", rotation},
	{"a deleted endpoint gets nothing, a restored one does", restored},
	{"a paused endpoint gets nothing, and everything after its pause", paused},
	{"a delivery that stays undeliverable is sealed, opened and replayed", death},
	{"no queue keeps anything", drained},
	{"no alarm is on", alarms},
	{"what the run made is gone", clearAway},
}

// run is a run under way.
type run struct {
	Config
	tenant   *client.Client
	keyID    string
	endpoint client.Endpoint
	secret   string
}

// notShown is the error of a step that cannot be seen here.
type notShown string

func (n notShown) Error() string { return string(n) }

// Run takes every step, the last one whatever happened. ok is false if any is broken.
func Run(ctx context.Context, c Config) (results []Result, ok bool) {
	r := &run{Config: c}
	ok = true
	for n, s := range steps {
		last := n == len(steps)-1
		if !ok && !last {
			continue // one broken link is named once
		}
		within := ctx
		if last {
			var cancel context.CancelFunc
			within, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
		}
		began := time.Now()
		says, err := s.run(within, r)
		result := Result{s.name, Held, says, time.Since(began)}
		var hidden notShown
		switch {
		case errors.As(err, &hidden):
			result.State, result.Says = NotShown, hidden.Error()
		case err != nil:
			result.State, result.Says, ok = Broken, err.Error(), false
		}
		results = append(results, result)
		c.Progress(result)
	}
	return results, ok
}

// eventually bounds a wait by the run's patience.
func (r *run) eventually(ctx context.Context, what string, check client.Check) error {
	return client.Eventually(ctx, r.Patience, what, check) //nolint:wrapcheck // says what it waited for
}

// clearAway removes the tenant's endpoints, dead letters and keys.
func clearAway(ctx context.Context, r *run) (string, error) {
	removed, err := r.removeEndpoints(ctx)
	if err != nil {
		return "", err
	}
	purged, err := r.purge(ctx)
	if err != nil {
		return "", err
	}
	revoked, err := r.revokeKeys(ctx)
	return fmt.Sprintf("%d endpoints, %d dead letters, %d keys", removed, purged, revoked), err
}

func (r *run) removeEndpoints(ctx context.Context) (n int, err error) {
	if r.tenant == nil {
		if err := r.issueKey(ctx); err != nil { // an earlier run's is not known
			return 0, err
		}
	}
	var found struct {
		Data []client.Endpoint `json:"data"`
	}
	status, err := r.tenant.API(ctx, "GET", "/v1/webhooks", nil, &found)
	if err == nil && status != 200 {
		err = fmt.Errorf("listing endpoints: answered %d", status)
	}
	for _, e := range found.Data {
		if err := r.remove(ctx, e); err != nil {
			return n, err
		}
		n++
	}
	return n, err
}

// ask sends an operator's request.
func (r *run) ask(ctx context.Context, function, action string, fields map[string]any, out any) error {
	request := map[string]any{"action": action, "operator": r.Client.Operator}
	for name, v := range fields {
		request[name] = v
	}
	return r.Client.Invoke(ctx, function, request, out) //nolint:wrapcheck // names the function
}

func (r *run) purge(ctx context.Context) (n int, err error) {
	var found struct {
		Data []client.DeadLetter `json:"data"`
	}
	err = r.ask(ctx, "inspect", "dead_letters", map[string]any{"tenant_id": Tenant, "limit": 100}, &found)
	if err != nil || len(found.Data) == 0 {
		return 0, err
	}
	ids := make([]string, len(found.Data))
	for n, d := range found.Data {
		ids[n] = d.DeliveryID
	}
	return len(ids), r.ask(ctx, "replay", "purge", map[string]any{"delivery_ids": ids, "confirm": true}, &struct{}{})
}

func (r *run) issueKey(ctx context.Context) error {
	var key struct {
		ID   string `json:"key_id"`
		Text string `json:"api_key"`
	}
	err := r.ask(ctx, "apikeys", "issue", map[string]any{"tenant_id": Tenant, "description": "herald verify"}, &key)
	r.tenant, r.keyID = r.Client.As(Tenant, key.Text), key.ID
	return err
}

// revokeKeys ends every key but that of this run, which its last step ends too.
func (r *run) revokeKeys(ctx context.Context) (n int, err error) {
	var found struct {
		Data []struct {
			ID        string     `json:"key_id"`
			RevokedAt *time.Time `json:"revoked_at"`
		} `json:"data"`
	}
	if err := r.ask(ctx, "apikeys", "list", map[string]any{"tenant_id": Tenant}, &found); err != nil {
		return 0, err
	}
	for _, k := range found.Data {
		if k.RevokedAt != nil || k.ID == r.keyID && r.endpoint.ID == "" {
			continue
		}
		if err := r.ask(ctx, "apikeys", "revoke", map[string]any{"key_id": k.ID}, &struct{}{}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
