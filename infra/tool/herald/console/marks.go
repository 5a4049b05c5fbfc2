package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/chart"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// marked is a mark in the list.
type marked struct {
	Form template.HTML
	Kind chart.Kind
	At   parts.Cell
	Text string
}

// markList are the marks, the latest first.
func (s *Server) markList(marks []chart.Mark) (all []marked) {
	for _, m := range slices.Backward(marks) {
		all = append(all, marked{
			Form: m.Kind.Icon(), Kind: m.Kind, Text: m.Text, At: s.site.At(m.When()),
		})
	}
	return all
}

// kinds are the rows of the legend: the kinds of marks that the chart has.
func kinds(marks []marked) (all []marked) {
	for _, k := range []chart.Kind{chart.Alarm, chart.Act, chart.Deployed, chart.Ongoing, chart.Undone} {
		if slices.ContainsFunc(marks, func(m marked) bool { return m.Kind == k }) {
			all = append(all, marked{Form: k.Icon(), Kind: k})
		}
	}
	return all
}

// changing are operators' acts that show in traffic.
var changing = []string{
	api.Pause.Name, api.Resume.Name, api.Release.Name, api.Discard.Name, api.StartJob.Name,
}

// marks are the alarms, the acts of operators and the deployments since then, the oldest first. A caller without the
// right to see some of them sees the others, and is told so.
func (s *Server) marks(ctx context.Context, since time.Time) (marks []chart.Mark, notes []string) {
	alarms, err := s.Metrics.Alarms(ctx, since)
	if err != nil {
		notes = append(notes, "Alarms are not marked: "+err.Error())
	}
	for _, a := range alarms {
		marks = append(marks, chart.Mark{At: a.At, Kind: chart.Alarm, Text: a.Text})
	}
	acts, _, err := s.Trail.Acts(ctx, since)
	if err != nil {
		notes = append(notes, "Acts of operators are not marked: "+err.Error())
	}
	for _, a := range acts {
		if slices.Contains(changing, a.Action) {
			text := parts.Words(a.Action) + " " + a.TenantID
			marks = append(marks, chart.Mark{At: a.At, Kind: chart.Act, Text: text})
		}
	}
	deployments, reached, err := s.Changes.Deployments(ctx, since)
	if err != nil {
		notes = append(notes, "Deployments are not marked: "+err.Error())
	}
	if !reached.IsZero() {
		notes = append(notes, "Deployments before "+reached.UTC().Format("2 Jan 15:04 UTC")+
			" are not marked: CloudFormation has more events than are read.")
	}
	for _, d := range deployments {
		marks = append(marks, s.ofDeployment(d))
	}
	slices.SortStableFunc(marks, func(a, b chart.Mark) int { return a.When().Compare(b.When()) })
	return marks, notes
}

// operated are the words for operations of CloudFormation. Others are shown as it names them.
var operated = map[string]string{"create": "creation", "delete": "deletion"}

// ofDeployment is a deployment as a mark.
func (s *Server) ofDeployment(d stack.Deployment) chart.Mark {
	m := chart.Mark{At: d.From, Until: d.Until, Kind: chart.Undone}
	switch d.State {
	case stack.Complete:
		m.Kind = chart.Deployed
	case stack.UnderWay:
		m.Kind = chart.Ongoing
	default:
	}
	m.Text = cmp.Or(operated[d.Act], d.Act) + versioned(d) + ": " + string(d.State)
	took := parts.Coarse(cmp.Or(d.Until, s.Now()).Sub(d.From))
	switch {
	case d.From.IsZero(), took == "0s": // unknown, or as quick as the emulator
	case d.Until.IsZero():
		m.Text += " for " + took
	default:
		m.Text += " after " + took
	}
	if d.Reason != "" {
		m.Text += fmt.Sprintf(" (%s)", d.Reason)
	}
	return m
}

// versioned is the version, where it is known, with a word before it.
func versioned(d stack.Deployment) string {
	switch {
	case d.Version == "":
		return ""
	case d.Act == "create":
		return " of " + d.Version
	}
	return " to " + d.Version
}
