package parts

import (
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// JobList are jobs.
func (s Site) JobList(q url.Values, jobs []api.Job) *Table {
	type row = api.Job
	return NewTable(q, jobs, IDs(s, "job", "/job", "job_id", func(j row) string { return j.JobID }),
		Text("act", "name", "", func(j row) any { return j.Act }),
		Text("of", "wide", "", func(j row) any { return SelectionOf(j) }),
		States("state", "state", jobColours, func(j row) job.State { return j.State }),
		Amount("selected", func(j row) int { return j.Selected }), Amount("done", func(j row) int { return j.Done }),
		Amount("left", func(j row) int { return j.Left }),
		Text("by", "wide", "", func(j row) any { return j.Operator }),
		Moment(s, "started", func(j row) time.Time { return j.StartedAt }))
}

// SelectionOf is a job's selection in words.
func SelectionOf(j api.Job) string { return InWords(ended(j)) }

// titled is a job's selection with the name of its endpoint, which is nil where it is not known.
func titled(j api.Job, e *api.Endpoint) string {
	if e == nil {
		return SelectionOf(j)
	}
	return Named(*e).Name() + " of " + answers.Shown(e.TenantID) + Narrowed(ended(j))
}

// ended is a job's selection as far as its end says something. A job never reaches beyond its start, so an end just
// before that says nothing.
func ended(j api.Job) api.Selector {
	of := j.Selector
	if !j.StartedAt.IsZero() && j.StartedAt.Sub(of.Until) < time.Hour {
		of.Until = time.Time{}
	}
	return of
}

// InWords is a selection in words. One of no tenant is of all tenants, and says so.
func InWords(of api.Selector) string {
	whose := said("tenant", of.TenantID) + said("endpoint", of.EndpointID)
	if whose == "" {
		whose = ", all tenants"
	}
	return whose[len(", "):] + Narrowed(of)
}

// Narrowed is what a selection leaves of a tenant or an endpoint, in words, each after a comma.
func Narrowed(of api.Selector) string {
	when := "died"
	if of.Status == "" { // rejected events have none
		when = "sent"
	}
	return said("event", of.EventID) + said("reason", of.Reason) + said("status", of.Status) +
		said(when+" since", of.Since) + said(when+" until", of.Until) +
		said("published since", of.PublishedSince) + said("published until", of.PublishedUntil)
}

// said is a part of a selection in words, or empty if the part selects nothing.
func said(name string, v any) string {
	shown := answers.Shown(v)
	if shown == answers.Nothing {
		return ""
	}
	return ", " + name + " " + shown
}
