package inspect

import (
	"context"
	"errors"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// letterOpener opens one dead letter. It alone of this package decrypts anything.
type letterOpener struct {
	letters DeadLetters
	vault   deadletter.Vault
	view    letterView
}

// open shows a dead letter in clear, once its audit line is written.
func (o letterOpener) open(
	ctx context.Context, call *invoke.Call, req api.DeliveryRequest,
) (api.OpenedDeadLetter, error) {
	const missing = "no dead letter has this id"
	r, err := invoke.Find(ctx, call, telemetry.KeyDelivery, req.DeliveryID, o.letters.Get, missing)
	if err != nil {
		return api.OpenedDeadLetter{}, err
	}
	if err := invoke.CheckTenant(req.TenantID, r.TenantID); err != nil {
		return api.OpenedDeadLetter{}, err
	}
	call.Note(slog.String(telemetry.KeyTenant, r.TenantID), slog.String(telemetry.KeyEndpoint, r.EndpointID))
	line := audit.Line{TenantID: r.TenantID, EndpointID: r.EndpointID, DeliveryID: r.DeliveryID}
	if err := call.Audit(ctx, line); err != nil {
		return api.OpenedDeadLetter{}, err
	}
	opened, err := o.vault.OpenAll(ctx, r)
	if errors.Is(err, deadletter.ErrUnopenable) {
		const reason = "the record was changed since it was sealed, or has parts of another record: an incident"
		return api.OpenedDeadLetter{}, invoke.Refuse(api.CodeUnopenable, "delivery_id", reason)
	}
	if err != nil {
		return api.OpenedDeadLetter{}, err
	}
	return api.OpenedDeadLetter{
		DeadLetter: o.view.show(ctx, []deadletter.Record{r})[0], OccurredAt: r.OccurredAt,
		Body: string(opened.Body), Headers: headers(r), History: opened.History, Attributes: opened.Attributes,
	}, nil
}

// headers are those of every attempt of a dead delivery. An unreadable message was never sent.
func headers(r deadletter.Record) map[string]string {
	if r.Reason == delivery.ReasonUnreadable {
		return map[string]string{}
	}
	return map[string]string{"content-type": "application/json", "wh-id": r.DeliveryID, "wh-webhook-event": r.EventType}
}
