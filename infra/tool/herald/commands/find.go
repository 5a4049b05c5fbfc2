package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

func findCommand(s setup) *cli.Command {
	find := command("find [ID|FILE]", "where an event is: its deliveries, dead letters and rejected events",
		s.find(), usage.Text("tenant", "the tenant's id, with an event's ID"),
		usage.Text("event", "the event's id, with a FILE that has none: that of its SQS message"),
		usage.Text("trace", "in place of an event: a trace's id or header; finds unacknowledged deliveries alone"))
	find.Description = "FILE is the event as it was published, or - for standard input: it finds acknowledged\n" +
		"deliveries, too, as far as they have records."
	return find
}

// sought is the event that a line asks about, or a trace.
type sought struct {
	id, tenantID, traceID string

	content jsontext.Value // of the event, as it was published; nil where it is not known
}

// find is an action on the event that a line names.
func (s setup) find() cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		fields, err := s.fields(line)
		if err != nil {
			return err
		}
		of, err := soughtBy(line, fields, s.terminal.ReadObject)
		if err != nil {
			return err
		}
		found, err := s.connect(ctx, whereOf(line))
		if err != nil {
			return err
		}
		c := call{s.screen(line), found, fields, line}
		if of.traceID != "" {
			return findTrace(ctx, c, of)
		}
		return places{call: c, of: of}.show(ctx)
	}
}

// soughtBy reads a line: a trace, an event's id where a tenant is given, and else a file.
func soughtBy(
	line *cli.Command, fields usage.Fields, object func(path string) (jsontext.Value, error),
) (of sought, err error) {
	of = sought{tenantID: fields.TenantID, traceID: fields.TraceID}
	switch {
	case of.traceID != "" && line.Args().Present():
		return of, exit.With(exit.Usage, "give either an event or --trace")
	case of.traceID != "" && of.tenantID == "":
		return of, exit.With(exit.Usage, "--tenant is required with --trace")
	case of.traceID != "":
		return of, nil
	}
	name, err := usage.Argument(line)
	if err != nil || of.tenantID != "" {
		of.id = name
		return of, err
	}
	of.content, err = object(name)
	if err != nil {
		return of, exit.With(exit.Usage, "%v; with the id of an event, give its --tenant", err)
	}
	return of.fromContent(fields.EventID)
}

// fromContent adds what the event itself says. The id is given where it says none.
func (s sought) fromContent(id string) (sought, error) {
	var e struct {
		ID       string `json:"id"`
		TenantID string `json:"tenant_id"`
	}
	if err := json.Unmarshal(s.content, &e); err != nil || e.TenantID == "" {
		return s, exit.With(exit.Usage, "the file is no event: it has no tenant_id, or an id that is no text")
	}
	s.id, s.tenantID = cmp.Or(e.ID, id), e.TenantID
	if s.id == "" {
		return s, exit.With(exit.Usage, "the file has no id: give that of its SQS message as --event")
	}
	return s, nil
}

// findTrace shows the deliveries of a trace that are not acknowledged.
func findTrace(ctx context.Context, c call, of sought) error {
	request := api.DeliveriesRequest{TraceID: of.traceID, TenantID: of.tenantID}
	answer, err := stack.Ask(ctx, c.stack, api.ListDeliveries, request)
	if err != nil {
		return err
	}
	found, err := answers.ListOf[api.Delivery](answer.JSON)
	if err == nil {
		terminal.List(c.Screen, found, deliveryColumns)
	}
	return err
}

// places are the three places where an event may be. Each says what it searched, and may fail alone.
type places struct {
	call

	of sought
}

// show shows the places one after the other, and then what to do.
func (p places) show(ctx context.Context) error {
	deliveries, ofDeliveries := p.deliveries(ctx)
	part(p.call, "deliveries", deliveries, ofDeliveries, deliveryColumns)
	letters, ofLetters := stack.FindLetters(ctx, p.stack, p.of.id, p.of.tenantID)
	part(p.call, "dead letters", letters, ofLetters, letterColumns)
	rejected, ofRejected := stack.FindRejected(ctx, p.stack, p.of.id, p.of.tenantID)
	part(p.call, "rejected events", rejected.List, ofRejected, rejectedColumns)
	failed := errors.Join(ofDeliveries, ofLetters, ofRejected)
	if p.JSON {
		p.PrintJSON(map[string]jsontext.Value{
			"deliveries": deliveries.JSON, "dead_letters": letters.JSON, "rejected": rejected.JSON,
		})
		return failed
	}
	p.advise(letters.Data, rejected)
	if failed == nil && len(deliveries.Data)+len(letters.Data)+len(rejected.Data) == 0 {
		p.adviseNowhere()
	}
	return failed
}

// deliveries searches the records of deliveries: by the content of the event all of them, by its id those that are not
// acknowledged.
func (p places) deliveries(ctx context.Context) (answers.List[api.Delivery], error) {
	request := api.DeliveriesRequest{EventID: p.of.id, TenantID: p.of.tenantID}
	if p.of.content != nil {
		request = api.DeliveriesRequest{EventID: p.fields.EventID, Event: p.of.content}
	}
	answer, err := stack.Ask(ctx, p.stack, api.ListDeliveries, request)
	if err != nil {
		return answers.List[api.Delivery]{}, err
	}
	found, err := answers.ListOf[api.Delivery](answer.JSON)
	if p.of.content != nil && len(found.Data) > 0 {
		found.Note = "all that have records"
	}
	return found, err
}

// part shows a place: what was searched, and what was found.
func part[R any](c call, name string, found answers.List[R], err error, columns []terminal.Column[R]) {
	switch {
	case err != nil:
		c.Say("%s: not answered", name)
	case c.JSON:
	case len(found.Data) == 0:
		c.Say("%s: none; %s", name, answers.Safe(found.Note))
	default:
		c.Say("%s: %s", name, answers.Safe(found.Note))
		terminal.Table(c.Terminal, found.Data, columns)
	}
}

// advise names the commands that go on from what was found.
func (p places) advise(letters []api.DeadLetter, rejected stack.FoundRejected) {
	event := flagged("event", p.of.id)
	of := flagged("tenant", p.of.tenantID) + event // an event of another tenant may have the same id
	dead := func(l api.DeadLetter) bool { return l.Status == deadletter.Dead }
	if slices.ContainsFunc(letters, dead) {
		p.sayNext("what is dead is sent again by an operator alone:", "dead replay"+of+" --watch")
	}
	sent := func(l api.DeadLetter) bool { return l.Status == deadletter.Replayed }
	if at := slices.IndexFunc(letters, sent); at >= 0 {
		p.sayNext("it was sent again, and may have been acknowledged since:",
			"deliveries show "+argument(letters[at].DeliveryID))
	}
	if slices.ContainsFunc(rejected.Data, stack.Rejected.Again) {
		p.sayNext("the event is valid, and was not processed:", "rejected publish"+of+" --watch")
	}
	switch rejected.Result {
	case api.ResultPart:
		p.sayNext("a job counts all rejected events:", "--dry-run rejected publish"+event)
	case api.ResultPublishing:
		p.sayNext("how far the job has come; search again when it has ended:", "jobs list --state running")
	}
}

// adviseNowhere says where else to look for an event that was found nowhere.
func (p places) adviseNowhere() {
	if p.of.content == nil {
		p.Say("acknowledged deliveries are found by the event as it was published: %s", p.herald("events find FILE"))
	}
	p.Say("the log has all attempts, by the saved query \"the deliveries of one event\"")
}
