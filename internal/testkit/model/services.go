package model

import (
	"context"
	"path"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// AttemptTimeout is how long an attempt waits for an answer.
const AttemptTimeout = 15 * time.Second

// Post is one POST as its receiver sees it.
type Post struct {
	EndpointID, DeliveryID string
	Body                   []byte
	Header                 []delivery.Field
}

// Answer is a receiver's. Status 0 never comes.
type Answer struct {
	Status     int
	RetryAfter string
	Took       time.Duration
}

// Receiver answers POSTs, under Mu.
type Receiver func(p Post) Answer

// Poster returns it as the process calls it.
func (p *Process) Poster() Poster { return Poster{p} }

// Poster makes POSTs (delivery.Poster).
type Poster struct{ *Process }

// Post makes one POST, which its receiver answers.
func (p Poster) Post(ctx context.Context, r delivery.Request) delivery.Response {
	began := time.Now()
	post := Post{path.Base(r.URL), idOf(r.Header), r.Body, r.Header}
	var got Answer
	err := p.one(ctx, "POST", post.EndpointID+"/"+post.DeliveryID, func() { got = p.model.Post(post) })
	timeout := err != nil || got.Status == 0 || got.Took > AttemptTimeout
	if timeout {
		got.Took = AttemptTimeout
	}
	if !wait(ctx, got.Took) || timeout {
		return delivery.Response{Reason: delivery.ReasonTimeout, Elapsed: time.Since(began)}
	}
	return delivery.Response{
		Status: got.Status, Reason: delivery.StatusReason(got.Status), RetryAfter: got.RetryAfter, Elapsed: time.Since(began),
	}
}

// idOf is the wh-id of a POST.
func idOf(header []delivery.Field) string {
	for _, h := range header {
		if h.Name == "Wh-Id" {
			return h.Value
		}
	}
	return ""
}

// wait reports whether ctx lasted as long.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Sender returns it as the process calls it.
func (p *Process) Sender(to *Queue) Sender { return Sender{p, to} }

// Sender sends to one queue (queue.Sender).
type Sender struct {
	*Process
	To *Queue
}

// Send sends messages, as one call.
func (s Sender) Send(ctx context.Context, messages []queue.Outgoing) []error {
	if len(messages) == 0 {
		return nil
	}
	key := "" // of an event
	if id, found := messages[0].Attributes["delivery_id"]; found {
		key = *id.StringValue
	}
	return s.many(ctx, "Send "+s.To.Name, key, len(messages), func(i int) { s.To.Send(messages[i]) })
}

// Hider returns it as the process calls it.
func (p *Process) Hider(of *Queue) Hider { return Hider{p, of} }

// Hider changes visibility timeouts of one queue (queue.Visibility).
type Hider struct {
	*Process
	Of *Queue
}

// ChangeVisibility changes visibility timeouts, as one call.
func (h Hider) ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error {
	if len(changes) == 0 {
		return nil
	}
	gone := make([]error, len(changes))
	errs := h.many(ctx, "ChangeVisibility "+h.Of.Name, changes[0].ReceiptHandle, len(changes), func(i int) {
		gone[i] = h.Of.Hide(changes[i].ReceiptHandle, changes[i].Wait)
	})
	for i := range errs {
		if errs[i] == nil {
			errs[i] = gone[i]
		}
	}
	return errs
}

// Keys returns it as the process calls it.
func (p *Process) Keys() Keys { return Keys{Process: p} }

// OpeningKeys returns it as a process calls it that may open dead letters.
func (p *Process) OpeningKeys() Keys { return Keys{p, true} }

// Keys is KMS (deliver's secrets and the vault's data keys).
type Keys struct {
	*Process
	opens bool // dead letters
}

// Open decrypts a signing secret: all are the same.
func (k Keys) Open(ctx context.Context, id keyring.SecretID, _ []byte) (string, error) {
	return "whsec_1", k.one(ctx, "KMS Decrypt", id.EndpointID, func() {})
}

// Generate returns a data key: all are the same.
func (k Keys) Generate(ctx context.Context, _ map[string]string) (plain, wrapped []byte, err error) {
	return make([]byte, 32), []byte("wrapped"), k.one(ctx, "KMS GenerateDataKey", "", func() {})
}

// Unwrap returns a data key, where the process may open dead letters.
func (k Keys) Unwrap(ctx context.Context, _ map[string]string, _ []byte) (plain []byte, err error) {
	if !k.opens {
		return nil, errAWS
	}
	return make([]byte, 32), k.one(ctx, "KMS Decrypt", "", func() {})
}
