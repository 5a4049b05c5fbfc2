package inspect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// DeadLetter is a dead letter as a list shows it: nothing sealed is opened.
type DeadLetter struct {
	DeliveryID  string            `json:"delivery_id"`
	TenantID    string            `json:"tenant_id"`
	EndpointID  string            `json:"endpoint_id"`
	Host        string            `json:"host"` // of the endpoint as it is now, as its description
	Description string            `json:"description"`
	EventID     string            `json:"event_id"`
	EventType   string            `json:"event_type"`
	Status      deadletter.Status `json:"status"`
	Reason      delivery.Reason   `json:"reason"`
	Attempts    int               `json:"attempts"`
	LastStatus  int               `json:"last_status"` // 0: no response
	CreatedAt   time.Time         `json:"created_at"`
	DiedAt      time.Time         `json:"died_at"`
	ReplayCount int               `json:"replay_count"`
}

// showDeadLetters reads each endpoint once. Where that fails, hosts and descriptions are missing, and nothing else.
func (h *Handler) showDeadLetters(ctx context.Context, records []deadletter.Record) []DeadLetter {
	keys := make([]dynamo.EndpointKey, len(records))
	for n, r := range records {
		keys[n] = dynamo.EndpointKey{TenantID: r.TenantID, EndpointID: r.EndpointID}
	}
	endpoints, err := h.readNamed(ctx, keys)
	if err != nil {
		h.Log.WarnContext(ctx, "the dead letters' endpoints could not be read", telemetry.Cause(err))
	}
	shown := make([]DeadLetter, len(records))
	for n, r := range records {
		e := endpoints[r.EndpointID].Endpoint
		shown[n] = DeadLetter{
			DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID, Host: e.Host(),
			Description: e.Description, EventID: r.EventID, EventType: r.EventType,
			Status: r.Status, Reason: r.Reason, Attempts: r.Attempts, LastStatus: r.LastStatus,
			CreatedAt: r.CreatedAt, DiedAt: r.DiedAt, ReplayCount: r.ReplayCount,
		}
	}
	return shown
}

type deadLettersRequest struct {
	operator.Page
	job.Selector
}

// selection is a request's, with the id of an endpoint that it names otherwise. An impossible one is refused.
func (h *Handler) selection(
	ctx context.Context, call *operator.Call, s job.Selector,
) (job.Selector, error) {
	id, err := h.Directory.ID(ctx, s.TenantID, s.EndpointID)
	if err != nil {
		return s, err
	}
	s.EndpointID = id
	call.Note(slog.String(telemetry.KeyTenant, s.TenantID), slog.String(telemetry.KeyEndpoint, s.EndpointID))
	return s, operator.CheckSelection(s)
}

// deadLetters lists by endpoint, tenant or status, narrowed by reason and time, latest death first. With an endpoint,
// the tenant is checked and selects nothing.
func (h *Handler) deadLetters(
	ctx context.Context, call *operator.Call, req deadLettersRequest,
) (operator.List[DeadLetter], error) {
	var none operator.List[DeadLetter]
	wanted, err := h.selection(ctx, call, req.Selector)
	if err != nil {
		return none, err
	}
	filter := fmt.Sprint("dead_letters ", wanted) // a new field of Selector voids the cursors that are out
	call.Note(slog.String("dead_letter_status", req.Status))
	if wanted.EndpointID != "" {
		wanted.TenantID = ""
	}
	read := func(limit int, start string) ([]DeadLetter, string, error) {
		records, next, err := h.DeadLetters.List(ctx, wanted, dynamo.LetterPage{Limit: limit, Cursor: start})
		for _, r := range records {
			err = errors.Join(err, operator.CheckTenant(req.TenantID, r.TenantID))
		}
		if err != nil {
			return nil, "", err
		}
		return h.showDeadLetters(ctx, records), next, nil
	}
	return operator.Paged(call, req.Page, filter, read)
}

// OpenedDeadLetter is a dead letter in clear.
type OpenedDeadLetter struct {
	DeadLetter
	OccurredAt time.Time              `json:"occurred_at"` // as the event was published; null where it did not say
	Body       string                 `json:"body"`        // the exact text that is POSTed
	Headers    map[string]string      `json:"headers"`     // of every attempt, but for timestamp and signature
	History    []deadletter.Entry     `json:"history"`     // one entry per death
	Attributes []deadletter.Attribute `json:"attributes,omitempty"`
}

// codeUnopenable refuses a dead letter whose sealed parts do not open.
const codeUnopenable = "unopenable"

func (h *Handler) deadLetter(ctx context.Context, call *operator.Call, req deliveryRequest) (OpenedDeadLetter, error) {
	const missing = "no dead letter has this id"
	r, err := operator.Find(ctx, call, telemetry.KeyDelivery, req.DeliveryID, h.DeadLetters.Get, missing)
	if err != nil {
		return OpenedDeadLetter{}, err
	}
	if err := operator.CheckTenant(req.TenantID, r.TenantID); err != nil {
		return OpenedDeadLetter{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, r.TenantID), slog.String(telemetry.KeyEndpoint, r.EndpointID))
	line := audit.Line{TenantID: r.TenantID, EndpointID: r.EndpointID, DeliveryID: r.DeliveryID}
	if err := call.Audit(ctx, line); err != nil {
		return OpenedDeadLetter{}, err
	}
	opened, err := h.Vault.OpenAll(ctx, r)
	if errors.Is(err, deadletter.ErrUnopenable) {
		const reason = "the record was changed since it was sealed, or has parts of another record: an incident"
		return OpenedDeadLetter{}, operator.Refuse(codeUnopenable, "delivery_id", reason)
	}
	if err != nil {
		return OpenedDeadLetter{}, err
	}
	return OpenedDeadLetter{
		DeadLetter: h.showDeadLetters(ctx, []deadletter.Record{r})[0], OccurredAt: r.OccurredAt,
		Body: string(opened.Body), Headers: headers(r), History: opened.History, Attributes: opened.Attributes,
	}, nil
}

func headers(r deadletter.Record) map[string]string {
	if r.Reason == delivery.ReasonUnreadable {
		return map[string]string{}
	}
	return map[string]string{"content-type": "application/json", "wh-id": r.DeliveryID, "wh-webhook-event": r.EventType}
}
