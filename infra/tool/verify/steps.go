package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

const inbox = "main"

func register(ctx context.Context, r *run) (string, error) {
	err := r.issueKey(ctx)
	if err != nil {
		return "", err
	}
	r.endpoint, err = r.subscribe(ctx, inbox, "*")
	r.secret = r.endpoint.SigningSecret
	return "at " + r.Receiver.URL(), err
}

// publish sends the sample of an event type under a new id.
func (r *run) publish(ctx context.Context, eventType string) (examples.Message, error) {
	m, err := examples.Event(eventType, r.id)
	if err != nil {
		return m, fmt.Errorf("reading the sample: %w", err)
	}
	now := time.Now().UnixNano()
	m.ID = "verify_" + strconv.FormatInt(now, 36)
	// No two bodies are alike, by white space: the schema of an adopter's own type may allow no further field.
	blank := strings.NewReplacer("0", " ", "1", "\t").Replace(strconv.FormatInt(now, 2))
	m.Data = jsontext.Value("{" + blank + strings.TrimSpace(string(m.Data))[1:])
	body, err := m.Body()
	if err != nil {
		return m, fmt.Errorf("writing the event: %w", err)
	}
	_, err = r.Client.Publish(ctx, body)
	return m, err
}

// arrive waits for the event's body, byte for byte, at the endpoint, and checks its type and signature.
func (r *run) arrive(ctx context.Context, m examples.Message) (Request, error) {
	var got Request
	err := r.awaits(ctx, m, "the delivery of "+m.Type, func(ctx context.Context) (bool, error) {
		all, err := r.Receiver.Requests(ctx, inbox)
		for _, request := range all {
			if string(request.Body) == m.Payload() {
				got = request
			}
		}
		return got.ID != "", err
	})
	if err != nil {
		return got, err
	}
	if got.Event != m.Type {
		return got, fmt.Errorf("%s arrived under the type %s", m.Type, got.Event)
	}
	if err := genuine(got, r.secret); err != nil {
		return got, fmt.Errorf("%s arrived, and its signature is wrong: %w", got.ID, err)
	}
	return got, nil
}

// awaits waits for a consequence of an event. If it does not come, the error names the link of the chain.
func (r *run) awaits(ctx context.Context, m examples.Message, what string, check client.Check) error {
	err := r.eventually(ctx, what, check)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, r.stuck(ctx, m))
	}
	return err
}

// genuine verifies a request by the Standard Webhooks library, not Herald's code.
func genuine(r Request, secret string) error {
	judge, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		return fmt.Errorf("making a verifier: %w", err)
	}
	h := http.Header{}
	h.Set("webhook-id", r.ID)
	h.Set("webhook-timestamp", r.Timestamp)
	h.Set("webhook-signature", r.Signature)
	if err := judge.VerifyIgnoringTimestamp(r.Body, h); err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	return nil
}

func everyEvent(ctx context.Context, r *run) (says string, err error) {
	_, r.took, err = r.timed(ctx, 0, event.Types()...)
	return fmt.Sprintf("%d events", len(r.took)), err
}

// firstAttempt is the objective for first attempts in infra/docs/operators.md, "Service levels".
const firstAttempt = 30 * time.Second

// inTime judges the first attempts of everyEvent. One of so few may be late: the objective is for 99 % of many.
func inTime(_ context.Context, r *run) (string, error) {
	n := len(r.took)
	says := fmt.Sprintf("from SendMessage to the POST: median %s, slowest %s",
		r.took[n/2].Round(time.Millisecond), r.took[n-1].Round(time.Millisecond))
	if r.took[n-2] > firstAttempt {
		return "", fmt.Errorf("first attempts miss their objective, %s, if the receiver's clock and that here agree: %s",
			firstAttempt, says)
	}
	return says, nil
}

// timed publishes an event of each type, with a pause after each, waits for all, and returns how long they took, the
// shortest time first.
func (r *run) timed(
	ctx context.Context, apart time.Duration, types ...string,
) (events []examples.Message, took []time.Duration, err error) {
	var sent []time.Time
	for _, eventType := range types {
		sent = append(sent, time.Now())
		m, err := r.publish(ctx, eventType)
		if err != nil {
			return nil, nil, err
		}
		events = append(events, m)
		client.Pause(ctx, apart)
	}
	for n, m := range events {
		got, err := r.arrive(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		took = append(took, got.At.Sub(sent[n]))
	}
	slices.Sort(took)
	return events, took, nil
}

// subscribe makes an endpoint for an inbox. The inbox's address says how it answers. Each inbox has a separate
// endpoint, so that failures there stay out of the main endpoint's circuit.
func (r *run) subscribe(ctx context.Context, inbox, eventType string) (client.Endpoint, error) {
	return r.tenant.CreateEndpoint(ctx, r.Receiver.URL()+"/"+inbox, eventType)
}

// failing is the address of an inbox that answers 503 for so long.
func failing(inbox string, d time.Duration) string {
	return inbox + "?until=" + strconv.FormatInt(time.Now().Add(d).UnixMilli(), 10)
}

func (r *run) remove(ctx context.Context, e client.Endpoint) error {
	return r.tenant.Call(ctx, http.MethodDelete, "/v1/webhooks/"+e.ID, nil, nil)
}

func badAmongGood(ctx context.Context, r *run) (string, error) {
	const bad = `{"id":"verify_bad","tenant_id":"` + Tenant + `","type":"user.unknown","data":{}}`
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

// once publishes an event and waits for its one delivery.
func (r *run) once(ctx context.Context) error {
	m, err := r.publish(ctx, "user.created")
	if err != nil {
		return err
	}
	_, err = r.arrive(ctx, m)
	return err
}

func restored(ctx context.Context, r *run) (string, error) {
	if err := r.remove(ctx, r.endpoint); err != nil {
		return "", err
	}
	m, err := r.publish(ctx, "user.deleted")
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

// silence is how long nothing may arrive.
const silence = 3 * time.Second

func (r *run) silent(ctx context.Context, m examples.Message) error {
	if !client.Pause(ctx, silence) {
		return ctx.Err()
	}
	got, err := r.Receiver.Requests(ctx, inbox)
	if slices.ContainsFunc(got, func(q Request) bool { return string(q.Body) == m.Payload() }) {
		return errors.New("it got the event all the same")
	}
	return err
}
