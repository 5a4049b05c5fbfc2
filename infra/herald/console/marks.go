package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// mark is something that happened, for charts and for the list under them. A deployment lasts.
type mark struct {
	at, until time.Time // at is zero where the beginning is unknown, until where it goes on
	kind      kind
	text      string
}

// when is the moment under which a list has the mark.
func (m mark) when() time.Time {
	if m.at.IsZero() {
		return m.until
	}
	return m.at
}

// kind tells marks apart, by their form.
type kind string

// The kinds of marks, in words for those who cannot see forms.
const (
	kindAlarm    kind = "alarm"
	kindAct      kind = "act of an operator"
	kindDeployed kind = "deployment"
	kindOngoing  kind = "deployment under way"
	kindUndone   kind = "deployment that did not succeed"
)

// lasts says whether marks of a kind have a beginning and an end.
func (k kind) lasts() bool { return k == kindDeployed || k == kindOngoing || k == kindUndone }

// marked is a mark in the list.
type marked struct {
	Form template.HTML
	Kind kind
	At   cell
	Text string
}

// listed are the marks, the latest first.
func (s *Server) listed(marks []mark) (all []marked) {
	for _, m := range slices.Backward(marks) {
		all = append(all, marked{
			Form: m.kind.icon(), Kind: m.kind, Text: m.text, At: s.at(m.when().UTC().Format(time.RFC3339)),
		})
	}
	return all
}

// kinds are the legend: all that are marked.
func kinds(marks []marked) (all []marked) {
	for _, k := range []kind{kindAlarm, kindAct, kindDeployed, kindOngoing, kindUndone} {
		if slices.ContainsFunc(marks, func(m marked) bool { return m.Kind == k }) {
			all = append(all, marked{Form: k.icon(), Kind: k})
		}
	}
	return all
}

// changing are operators' acts that show in traffic.
var changing = []string{"pause", "resume", "release", "discard", "start_job"}

// marks are the alarms, the acts of operators and the deployments since then, the oldest first. A caller without the
// right to see some of them sees the others, and is told so.
func (s *Server) marks(ctx context.Context, since time.Time) (marks []mark, notes []string) {
	alarms, err := s.Metrics.Alarms(ctx, since)
	if err != nil {
		notes = append(notes, "Alarms are not marked: "+err.Error())
	}
	for _, a := range alarms {
		marks = append(marks, mark{at: a.At, kind: kindAlarm, text: a.Text})
	}
	acts, _, err := s.Trail.Acts(ctx, since)
	if err != nil {
		notes = append(notes, "Acts of operators are not marked: "+err.Error())
	}
	for _, a := range acts {
		at, err := time.Parse(time.RFC3339, answers.Text(a, "at"))
		action := answers.Text(a, "action")
		if err == nil && slices.Contains(changing, action) {
			text := words(action) + " " + answers.Text(a, "tenant_id")
			marks = append(marks, mark{at: at, kind: kindAct, text: text})
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
	slices.SortStableFunc(marks, func(a, b mark) int { return a.when().Compare(b.when()) })
	return marks, notes
}

// acted are the words for operations of CloudFormation. Others are shown as it names them.
var acted = map[string]string{"create": "creation", "delete": "deletion"}

// ofDeployment is a deployment as a mark.
func (s *Server) ofDeployment(d stack.Deployment) mark {
	m := mark{at: d.From, until: d.Until, kind: kindUndone}
	switch d.State {
	case stack.Complete:
		m.kind = kindDeployed
	case stack.UnderWay:
		m.kind = kindOngoing
	default:
	}
	m.text = cmp.Or(acted[d.Act], d.Act) + versioned(d) + ": " + string(d.State)
	took := coarse(cmp.Or(d.Until, s.Now()).Sub(d.From))
	switch {
	case d.From.IsZero(), took == "0s": // unknown, or as quick as the emulator
	case d.Until.IsZero():
		m.text += " for " + took
	default:
		m.text += " after " + took
	}
	if d.Reason != "" {
		m.text += fmt.Sprintf(" (%s)", d.Reason)
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
