package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// maxOverlapHours bounds the time for which a replaced secret continues to sign.
const maxOverlapHours = 24

// rotate replaces the signing secret at once (infra/docs/spec.md, "Endpoints"). On request, the replaced secret
// continues to sign for some hours: webhook-signature then has both signatures. A secret that was replaced earlier
// still is forgotten.
func (h *Handler) rotate(ctx context.Context, c *call) (any, error) {
	overlap, err := h.readOverlap(c.body)
	if err != nil {
		return nil, err
	}
	secret := signature.NewSecret()
	shown, err := h.alter(ctx, c, "rotate", func(e *endpoint.Endpoint) error {
		e.EndOverlap()
		if overlap > 0 && e.Live() {
			e.SealedPrevious, e.PreviousKey = e.SealedSecret, e.PublicKey
			e.PreviousUntil = c.now.Add(overlap)
		}
		e.SecretRotatedAt = c.now
		return h.setSecret(ctx, e, secret)
	})
	shown.SigningSecret = secret
	return shown, err
}

// readOverlap returns for how long the secret that is replaced goes on signing. Without a body it is not at all.
func (h *Handler) readOverlap(body []byte) (time.Duration, error) {
	var in management.Rotation
	if body == nil {
		return 0, nil
	}
	if err := decode(body, &in); err != nil {
		return 0, err
	}
	const pointer = "/previous_secret_hours"
	var r reader
	if in.PreviousSecretHours.Value == nil {
		return 0, nil
	}
	hours, ok := wholeNumber(in.PreviousSecretHours.Value, 0, maxOverlapHours)
	switch {
	case !ok:
		r.refuse(pointer, fmt.Sprintf("must be an integer from 0 to %d", maxOverlapHours))
	case hours > 0 && h.Companions == delivery.CompanionsNone:
		r.refuse(pointer, "must be 0 here: only webhook-signature can hold two signatures, and it is not sent")
	}
	return time.Duration(hours) * time.Hour, r.problem()
}
