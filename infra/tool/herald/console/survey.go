package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// survey is a selection that was counted by a dry run, and several endpoints by one each.
type survey struct {
	s    *Server
	act  manyAct
	name job.Act
	of   api.Selector // of the last dry run
	ids  []string     // of the endpoints, none for any
	rows []dryRun
}

// dryRun is the answer to a dry run of one selection.
type dryRun struct {
	api.Survey

	endpointID string
	words      string // the selection
}

// survey counts the selection of the address.
func (s *Server) survey(ctx context.Context, q url.Values, act manyAct) (survey, error) {
	of, err := act.selection(s, q)
	if err == nil {
		of, err = usage.Resolve(ctx, s.Stack, of)
	}
	if err != nil {
		return survey{}, err
	}
	v := survey{s: s, act: act, name: job.Act(q.Get("act")), of: of, ids: endpointsOf(q, of)}
	if len(v.ids) > mostReplays {
		return v, fmt.Errorf("choose %d endpoints at most, or all by a filter", mostReplays)
	}
	for n := range max(1, len(v.ids)) {
		if len(v.ids) > 0 {
			v.of.EndpointID = v.ids[n]
		}
		request := api.StartJobRequest{Selector: v.of, Act: v.name, Token: rand.Text(), DryRun: true}
		would, err := ask(ctx, s, api.StartJob, request)
		if err != nil {
			return v, err
		}
		v.of.Until = would.Until // the next one counts up to the same time
		v.rows = append(v.rows, dryRun{would, v.of.EndpointID, parts.InWords(v.of)})
	}
	return v, nil
}

// endpointsOf are the endpoints that an address names. One alone may be named by its host or description: the selection
// has its id.
func endpointsOf(q url.Values, of api.Selector) []string {
	given := slices.DeleteFunc(slices.Clone(q["endpoint_id"]), func(id string) bool { return id == "" })
	if len(given) == 1 && of.EndpointID != "" {
		given[0] = of.EndpointID
	}
	return slices.Compact(slices.Sorted(slices.Values(given)))
}

// complete fills in the question about the selection.
func (v survey) complete(ctx context.Context, ask question) (any, error) {
	for _, r := range v.rows {
		ask.Count += r.Ready
		if !r.Complete {
			ask.More = true
			ask.Warnings = append(ask.Warnings, "There are more than these: there was no time to count them all. "+
				"Choose a tenant, an endpoint or a time to get an exact number.")
		}
	}
	causes, err := v.causes(ctx)
	if err != nil {
		return nil, err
	}
	if n := letters(causes, fails); n > 0 && v.name == job.Replay {
		ask.Warnings = append(ask.Warnings, fmt.Sprintf("%d of them may die again: their endpoints are failing.", n))
	}
	if n := letters(causes, next.Holds); n > 0 && v.name == job.Replay {
		ask.Warnings = append(ask.Warnings, fmt.Sprintf("Up to %d of them will wait: their endpoints are down or stopped. "+
			"They are sent with the others that wait once the endpoints are back.", n))
	}
	ask.Lists = append(ask.Lists, parts.Section{List: selectionTable(v.rows)})
	if list := v.s.site.CauseList(url.Values{}, causes); len(list.Rows) > 0 {
		ask.Lists = append(ask.Lists, parts.Section{Title: "By endpoint and reason", List: list})
	}
	ask.Hidden = append(ask.Hidden, v.hidden()...)
	return ask.ask(v.act), nil
}

// hidden are the fields of the form that does it: the same selection, without later ones.
func (v survey) hidden() []parts.Field {
	all := append([]parts.Field{{Name: "token", Value: rand.Text()}}, selectionFields(v.of)...)
	for _, id := range v.ids {
		all = append(all, parts.Field{Name: "endpoint_id", Value: id})
	}
	return all
}

// causes are those of the selected dead letters. They name the endpoints of the selection.
func (v survey) causes(ctx context.Context) (some []api.Cause, err error) {
	if v.name.OnEvents() {
		return nil, nil
	}
	of := v.of
	if len(v.ids) != 1 {
		of.EndpointID = ""
	}
	found, err := ask(ctx, v.s, api.ListCauses, of)
	for _, cause := range found.Data {
		at := slices.IndexFunc(v.rows, func(r dryRun) bool {
			return r.endpointID != "" && r.endpointID == cause.EndpointID // an unreadable message names no endpoint
		})
		if at >= 0 {
			named := parts.OfCause(cause)
			v.rows[at].words = named.Name() + " of " + answers.Shown(cause.TenantID) + parts.Narrowed(of)
		}
		if at >= 0 || len(v.ids) == 0 {
			some = append(some, cause)
		}
	}
	return some, err
}

// letters counts the dead letters of endpoints in some states.
func letters(causes []api.Cause, in func(api.State) bool) (n int) {
	for _, cause := range causes {
		if in(cause.State) {
			n += cause.Count
		}
	}
	return n
}

func fails(state api.State) bool { return state == api.StateFailing }

// selectionTable has a row for each selection: how many, how many can be done, and why the others cannot.
func selectionTable(rows []dryRun) *parts.Table {
	refused := parts.Column[dryRun]{Title: "cannot", Class: "wide", Cell: func(c dryRun) parts.Cell {
		return parts.Cell{Text: answers.Reasons(c.Refused), Class: "warn"}
	}}
	return parts.NewTable(url.Values{}, rows,
		parts.Text("selection", "wide", "", func(c dryRun) any { return c.words }),
		parts.Amount("selected", func(c dryRun) int { return c.Selected }),
		parts.Amount("can be done", func(c dryRun) int { return c.Ready }), refused)
}
