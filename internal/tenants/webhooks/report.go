package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// report writes the one wide line of a request. API Gateway counts requests.
func (h *Handler) report(ctx context.Context, c *call, status int, took time.Duration, refused *problem.Error) {
	name := "none"
	outcome := "answered"
	level := slog.LevelInfo
	if c.route != nil {
		name = c.route.method + " " + c.route.path
	}
	attrs := []slog.Attr{
		slog.String(telemetry.KeyRequest, c.id()),
		slog.String(telemetry.KeyRoute, name),
		slog.Int(telemetry.KeyStatus, status),
		slog.Float64(telemetry.KeyMillis, float64(took.Microseconds())/1000),
		slog.String(telemetry.KeyTenant, c.key.TenantID),
		slog.String(telemetry.KeyKey, c.keyID),
		slog.String("source_ip", c.in.RequestContext.HTTP.SourceIP),
	}
	if endpoint.ValidID(c.endpointID) {
		attrs = append(attrs, slog.String(telemetry.KeyEndpoint, c.endpointID))
	}
	if c.deliveryID != "" {
		attrs = append(attrs, slog.String(telemetry.KeyDelivery, c.deliveryID))
	}
	if refused != nil {
		outcome = "refused"
		attrs = append(attrs, slog.String(telemetry.KeyReason, string(refused.Code)))
		if status >= 500 {
			outcome, level = "failed", slog.LevelError
			attrs = append(attrs, telemetry.Cause(refused))
		}
	}
	h.Log.LogAttrs(ctx, level, "request", append(attrs, slog.String(telemetry.KeyOutcome, outcome))...)
}

// tell writes lines to the audit log, except those that tell nothing more than earlier ones of the request. A request
// that tries again, because another change was first, would otherwise leave a line for each try.
func (h *Handler) tell(ctx context.Context, c *call, lines ...audit.Line) error {
	lines = slices.DeleteFunc(lines, func(line audit.Line) bool {
		return slices.ContainsFunc(c.told, func(told audit.Line) bool { return covers(told, line) })
	})
	if len(lines) == 0 {
		return nil
	}
	c.told = append(c.told, lines...)
	return h.Audit.Write(ctx, lines...)
}

// covers reports whether a line tells of every field that another line says is changed, with the same result.
func covers(told, line audit.Line) bool {
	for _, field := range line.Changed {
		if !slices.Contains(told.Changed, field) {
			return false
		}
	}
	return told.Action == line.Action && told.EndpointID == line.EndpointID && reflect.DeepEqual(told.After, line.After)
}

// line is the audit log's line about a change. It has to be written before the change is stored, and if it cannot be
// written, nothing may be stored. It has no secret, and only the host and a digest of a URL, since receivers keep
// tokens in paths and queries.
func (c *call) line(action string, before, after *endpoint.Endpoint) audit.Line {
	line := c.about(action, *after)
	line.Changed = changed(before, after)
	line.Before, line.After = trail(before), trail(after)
	if before != nil {
		line.HeadersDropped = dropped(*before, *after)
	}
	return line
}

// prunes is the line about an endpoint that is removed for good to make room for the one that the request deletes. The
// line of its own deletion has its fields.
func (c *call) prunes(e endpoint.Endpoint) audit.Line { return c.about("prune", e) }

// about is a line about an act on an endpoint, and by whom.
func (c *call) about(action string, e endpoint.Endpoint) audit.Line {
	return audit.Line{
		Action: action, RequestID: c.id(), OperatorClaimed: c.operator, KeyID: c.key.ID,
		TenantID: e.TenantID, EndpointID: e.ID,
	}
}

// record is an endpoint in an audit line.
type record struct {
	Host           string          `json:"host"`
	URLDigest      string          `json:"url_digest"` // of SHA-256, tells URLs apart
	Description    string          `json:"description"`
	Events         []string        `json:"events"`
	Status         endpoint.Status `json:"status"`
	SecretVersion  int             `json:"secret_version"`
	KeyID          string          `json:"public_key_id,omitzero"` // "" where there is no key pair
	PreviousUntil  time.Time       `json:"previous_secret_until,omitzero"`
	HeadersVersion int             `json:"headers_version,omitzero"` // 0 where there never were any
	TokenHost      string          `json:"token_host,omitzero"`      // of the token URL
	OAuthVersion   int             `json:"oauth2_version,omitzero"`  // 0 where there never was one
	RateLimit      int             `json:"rate_limit,omitzero"`      // 0: none
	HasContact     bool            `json:"has_contact,omitzero"`     // not whom: that is personal data
	MetadataPairs  int             `json:"metadata_pairs,omitzero"`  // their number
}

// trail is an endpoint as audit lines have it; nil for none. Half of the digest is enough to tell two URLs apart.
func trail(e *endpoint.Endpoint) *record {
	if e == nil {
		return nil
	}
	digest := sha256.Sum256([]byte(e.URL))
	key, _ := signature.NewJWK(e.PublicKey) // zero where there is none
	return &record{
		Host: e.Host(), URLDigest: hex.EncodeToString(digest[:16]), Description: e.Description, Events: e.Events,
		Status: e.Status, SecretVersion: e.SecretVersion, PreviousUntil: e.PreviousUntil, HeadersVersion: e.HeadersVersion,
		TokenHost: endpoint.Endpoint{URL: e.TokenURL()}.Host(), OAuthVersion: e.OAuthVersion,
		KeyID: key.ID, RateLimit: e.RateLimit, HasContact: e.About.Contact != "", MetadataPairs: len(e.About.Metadata),
	}
}

// changed names the fields that differ. A field that it does not know would be changed without a trace.
// TestChanged_knowsEveryFieldOfAnEndpoint looks for one.
func changed(before, after *endpoint.Endpoint) []string {
	if before == nil {
		before = &endpoint.Endpoint{}
	}
	var names []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"url", before.URL == after.URL},
		{"description", before.Description == after.Description},
		{"events", slices.Equal(before.Events, after.Events)},
		{"status", before.Status == after.Status},
		{"secret", before.SecretVersion == after.SecretVersion},
		{"previous_secret", before.PreviousUntil.Equal(after.PreviousUntil)},
		{"headers", before.HeadersVersion == after.HeadersVersion},
		{"oauth2", before.OAuthVersion == after.OAuthVersion},
		{"rate_limit", before.RateLimit == after.RateLimit},
		{"contact", before.About.Contact == after.About.Contact},
		{"metadata", maps.Equal(before.About.Metadata, after.About.Metadata)},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}
