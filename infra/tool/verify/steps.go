package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

func register(ctx context.Context, r *run) (string, error) {
	err := r.issueKey(ctx)
	if err != nil {
		return "", err
	}
	r.endpoint, err = r.subscribe(ctx, mainInbox, "*")
	r.secret = r.endpoint.SigningSecret
	return "at " + r.Receiver.URL(), err
}

func everyEvent(ctx context.Context, r *run) (says string, err error) {
	_, r.took, err = r.timed(ctx, 0, event.Types()...)
	return fmt.Sprintf("%d events", len(r.took)), err
}

// inTime judges the first attempts of everyEvent. One of so few may be late: the objective is for 99 % of many.
func inTime(_ context.Context, r *run) (string, error) {
	n := len(r.took)
	says := fmt.Sprintf("from SendMessage to the POST: median %s, slowest %s",
		r.took[n/2].Round(time.Millisecond), r.took[n-1].Round(time.Millisecond))
	if r.took[n-2] > r.Objective {
		return "", fmt.Errorf("first attempts miss their objective, %s, if the receiver's clock and that here agree: %s",
			r.Objective, says)
	}
	return says, nil
}

func badAmongGood(ctx context.Context, r *run) (string, error) {
	const bad = `{"id":"verify_bad","tenant_id":"` + Tenant + `","type":"` + examples.Unknown + `","data":{}}`
	id, err := r.Client.Publish(ctx, bad)
	if err != nil {
		return "", err
	}
	if err := r.once(ctx); err != nil {
		return "", err
	}
	err = r.eventually(ctx, "the rejected event", func(ctx context.Context) (bool, error) {
		found, err := client.Ask(ctx, r.Client, api.ListRejected, api.RejectedRequest{TenantID: r.id, Limit: new(100)})
		return slices.ContainsFunc(found.Data, func(e api.RejectedEvent) bool {
			return e.MessageID == id && e.Reason != ""
		}), err
	})
	if err != nil {
		return "", fmt.Errorf("%w: fanout does not put bad events into EventsDeadLetterQueue", err)
	}
	return "rejected with its reason", nil
}

func rotation(ctx context.Context, r *run) (string, error) {
	var rotated client.Endpoint
	err := r.tenant.Call(ctx, http.MethodPost, "/v1/webhooks/"+r.endpoint.ID+"/rotate-secret", nil, &rotated)
	if err != nil || rotated.SigningSecret == r.secret {
		return "", errors.Join(err, errors.New("the secret was not changed"))
	}
	r.secret = rotated.SigningSecret
	return "verified with the new secret", r.once(ctx)
}

func restored(ctx context.Context, r *run) (string, error) {
	if err := r.remove(ctx, r.endpoint); err != nil {
		return "", err
	}
	m, _, err := r.publish(ctx, sample("user.deleted"))
	if err != nil {
		return "", err
	}
	if err := r.silent(ctx, m); err != nil {
		return "", fmt.Errorf("a deleted endpoint: %w", err)
	}
	if err := r.tenant.Call(ctx, http.MethodPost, "/v1/webhooks/"+r.endpoint.ID+"/restore", nil, nil); err != nil {
		return "", err
	}
	return "with its id and secret", r.once(ctx)
}

func paused(ctx context.Context, r *run) (string, error) {
	whom := api.Target{TenantID: Tenant, EndpointID: r.endpoint.ID}
	if _, err := client.Ask(ctx, r.Client, api.Pause, whom); err != nil {
		return "", err
	}
	m, _, err := r.publish(ctx, sample("organization.created"))
	if err != nil {
		return "", err
	}
	silentErr := r.silent(ctx, m)
	if _, err := client.Ask(ctx, r.Client, api.Resume, whom); err != nil {
		return "", err
	}
	if silentErr != nil {
		return "", fmt.Errorf("a paused endpoint: %w", silentErr)
	}
	_, err = r.arrive(ctx, m)
	return "held, and sent after the pause", err
}
