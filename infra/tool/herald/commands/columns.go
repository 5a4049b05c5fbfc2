package commands

import (
	"cmp"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// The columns of endpoints in trouble, and of causes of death. Descriptions tell endpoints apart; ids are last.
var (
	troubleColumns = []terminal.Column[api.ListedEndpoint]{
		{Head: "tenant id", Of: func(e api.ListedEndpoint) any { return e.TenantID }},
		{Head: "description", Of: func(e api.ListedEndpoint) any { return e.Description }},
		{Head: "host", Of: func(e api.ListedEndpoint) any { return e.Host }},
		{Head: "state", Of: func(e api.ListedEndpoint) any { return e.State }},
		{Head: "last status", Of: func(e api.ListedEndpoint) any { return statusOf(e.LastStatus) }},
		{Head: "last reason", Of: func(e api.ListedEndpoint) any { return e.LastReason }},
		{Head: "failures", Of: func(e api.ListedEndpoint) any { return e.Failures }},
		{Head: "waiting", Of: func(e api.ListedEndpoint) any { return e.Waiting.Count }},
		{Head: "outage since", Of: func(e api.ListedEndpoint) any { return e.OutageSince }},
		{Head: "pause reason", Of: func(e api.ListedEndpoint) any { return e.PauseReason }},
		{Head: "endpoint id", Of: func(e api.ListedEndpoint) any { return e.EndpointID }},
	}
	causeColumns = []terminal.Column[api.Cause]{
		{Head: "tenant id", Of: func(c api.Cause) any { return c.TenantID }},
		{Head: "description", Of: func(c api.Cause) any { return c.Description }},
		{Head: "host", Of: func(c api.Cause) any { return c.Host }},
		{Head: "state", Of: func(c api.Cause) any { return c.State }},
		{Head: "reason", Of: func(c api.Cause) any { return c.Reason }},
		{Head: "last status", Of: func(c api.Cause) any { return statusOf(c.LastStatus) }},
		{Head: "deaths", Of: func(c api.Cause) any { return c.Count }},
		{Head: "first died at", Of: func(c api.Cause) any { return c.FirstDiedAt }},
		{Head: "latest died at", Of: func(c api.Cause) any { return c.LatestDiedAt }},
		{Head: "endpoint id", Of: func(c api.Cause) any { return c.EndpointID }},
	}
)

// endpointColumns add the limit in force, before the id, which stays last.
var endpointColumns = slices.Insert(slices.Clone(troubleColumns), len(troubleColumns)-1,
	terminal.Column[api.ListedEndpoint]{
		Head: "limit", Of: func(e api.ListedEndpoint) any { return e.EffectiveRateLimit },
	})

var deliveryColumns = []terminal.Column[api.Delivery]{
	{Head: "delivery id", Of: func(d api.Delivery) any { return d.DeliveryID }},
	{Head: "endpoint id", Of: func(d api.Delivery) any { return d.EndpointID }},
	{Head: "event type", Of: func(d api.Delivery) any { return d.EventType }},
	{Head: "state", Of: func(d api.Delivery) any { return d.State }},
	{Head: "attempts", Of: func(d api.Delivery) any { return d.Attempts }},
	{Head: "last status", Of: func(d api.Delivery) any { return statusOf(d.LastStatus) }},
	{Head: "reason", Of: func(d api.Delivery) any { return d.Reason }},
	{Head: "next attempt at", Of: func(d api.Delivery) any { return d.NextAttemptAt }},
	{Head: "updated at", Of: func(d api.Delivery) any { return d.UpdatedAt }},
}

var letterColumns = []terminal.Column[api.DeadLetter]{
	{Head: "delivery id", Of: func(l api.DeadLetter) any { return l.DeliveryID }},
	{Head: "tenant id", Of: func(l api.DeadLetter) any { return l.TenantID }},
	{Head: "host", Of: func(l api.DeadLetter) any { return l.Host }},
	{Head: "description", Of: func(l api.DeadLetter) any { return l.Description }},
	{Head: "event type", Of: func(l api.DeadLetter) any { return l.EventType }},
	{Head: "status", Of: func(l api.DeadLetter) any { return l.Status }},
	{Head: "reason", Of: func(l api.DeadLetter) any { return l.Reason }},
	{Head: "last status", Of: func(l api.DeadLetter) any { return statusOf(l.LastStatus) }},
	{Head: "died at", Of: func(l api.DeadLetter) any { return l.DiedAt }},
}

var rejectedColumns = []terminal.Column[stack.Rejected]{
	{Head: "message id", Of: func(r stack.Rejected) any { return r.MessageID }},
	{Head: "tenant", Of: func(r stack.Rejected) any { return r.Tenant }},
	{Head: "type", Of: func(r stack.Rejected) any { return r.Type }},
	{Head: "event id", Of: func(r stack.Rejected) any { return r.EventID }},
	{Head: "reason", Of: func(r stack.Rejected) any { return r.Fault }},
	{Head: "valid", Of: func(r stack.Rejected) any { return r.Valid }},
	{Head: "sent at", Of: func(r stack.Rejected) any { return r.SentAt }},
	{Head: "bytes", Of: func(r stack.Rejected) any { return r.Bytes }},
}

var jobColumns = []terminal.Column[api.Job]{
	{Head: "job id", Of: func(j api.Job) any { return j.JobID }},
	{Head: "act", Of: func(j api.Job) any { return j.Act }},
	{Head: "state", Of: func(j api.Job) any { return j.State }},
	{Head: "selected", Of: func(j api.Job) any { return j.Selected }},
	{Head: "done", Of: func(j api.Job) any { return j.Done }},
	{Head: "left", Of: func(j api.Job) any { return j.Left }},
	{Head: "operator", Of: func(j api.Job) any { return j.Operator }},
	{Head: "started at", Of: func(j api.Job) any { return j.StartedAt }},
}

var keyColumns = []terminal.Column[api.Key]{
	{Head: "key id", Of: func(k api.Key) any { return k.KeyID }},
	{Head: "scopes", Of: func(k api.Key) any { return k.Scopes }},
	{Head: "description", Of: func(k api.Key) any { return k.Description }},
	{Head: "created at", Of: func(k api.Key) any { return k.CreatedAt }},
	{Head: "last used at", Of: func(k api.Key) any { return k.LastUsedAt }},
	{Head: "revoked at", Of: func(k api.Key) any { return k.RevokedAt }},
}

// statusOf is the HTTP status of a response, nothing where there was no response.
func statusOf(status int) any {
	if status == 0 {
		return nil
	}
	return status
}

// selectionColumns show what a job selects, by endpoint.
var selectionColumns = []terminal.Column[api.Cause]{
	{Head: "tenant id", Of: func(c api.Cause) any { return c.TenantID }},
	{Head: "endpoint", Of: func(c api.Cause) any { return cmp.Or(c.Description, c.Host) }},
	{Head: "state", Of: func(c api.Cause) any { return c.State }},
	{Head: "reason", Of: func(c api.Cause) any { return c.Reason }},
	{Head: "dead", Of: func(c api.Cause) any { return c.Count }},
}
