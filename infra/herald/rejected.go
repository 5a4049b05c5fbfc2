package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/event/catalogue"
	"github.com/herald-webhooks/herald/internal/operator"
)

// listRejected shows of each event its tenant and type, too, as far as its body has them.
func (a *app) listRejected(ctx context.Context, c *cli.Command, s stack, f fields) error {
	list, err := a.listed(ctx, c, s, "inspect", "rejected_events", f)
	if err != nil {
		return err
	}
	if isJSON(c) {
		a.printList(c, list)
		return nil
	}
	again := false
	for _, r := range console.Rows(list) {
		again = describe(r) || again
	}
	a.printList(c, list, "message_id", "tenant", "type", "event_id", "reason", "valid", "sent_at", "bytes")
	if again && len(f) == 0 {
		a.say("next: %s rejected publish --reason not_processed --watch", called(c))
	}
	return nil
}

// describe adds columns to a rejected event, and says whether publishing it again may succeed.
func describe(r row) (again bool) {
	var body struct {
		TenantID any `json:"tenant_id"`
		Type     any `json:"type"`
	}
	if json.Unmarshal([]byte(cellOf(r, "body")), &body) == nil { // a body may be no event at all
		r["tenant"], r["type"] = body.TenantID, body.Type
	}
	reason := cellOf(r, "reason")
	fault, invalid := strings.CutPrefix(reason, "invalid event: ")
	fault, near, suggests := strings.Cut(fault, "; the nearest are ")
	if suggests {
		near, _, _ = strings.Cut(near, ",")
		fault += ", nearest: " + near
	}
	r["reason"] = fault
	again = reason == "not_processed"
	switch {
	case again:
		r["valid"] = "yes"
	case invalid:
		r["valid"] = "no"
	}
	return again
}

func (a *app) showRejected(ctx context.Context, c *cli.Command, s stack, f fields) error {
	list, err := s.all(ctx, "inspect", "rejected_events", fields{}, maxPage)
	if err != nil {
		return err
	}
	for _, r := range console.Rows(list) {
		if r["message_id"] == f["message_id"] {
			a.printOne(c, r)
			return nil
		}
	}
	return fail(exitFailed, "no rejected event %s among the first %d; another request may be looking at it: ask again",
		safe(cellOf(f, "message_id")), maxPage)
}

func (a *app) listTypes(_ context.Context, c *cli.Command) error {
	var rows []row
	for _, t := range catalogue.Types() {
		rows = append(rows, row{
			"type": t.Name, "description": t.Description,
			"schema": jsontext.Value(t.Schema), "example": jsontext.Value(t.Example),
		})
	}
	a.printRows(c, rows, rows, "type", "description")
	return nil
}

func (a *app) sendEvent(ctx context.Context, c *cli.Command, s stack, _ fields) error {
	body, err := a.eventBody(c)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		a.print(body)
		return nil
	}
	if err := a.confirm(c, "Send this event to "+s.name+", whose endpoints will get it"); err != nil {
		return err
	}
	out, err := sqs.NewFromConfig(s.aws).SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: aws.String(s.outputs["EventsQueueUrl"]), MessageBody: &body,
	})
	if err != nil {
		return s.explain("sending the event (policy EventPublishers)", err)
	}
	a.print(aws.ToString(out.MessageId))
	return nil
}

// eventBody is the file's, or a sample's.
func (a *app) eventBody(c *cli.Command) (string, error) {
	if path := c.String("file"); path != "" && c.Args().Present() {
		return "", fail(exitUsage, "give either a TYPE or --file, not both")
	} else if path != "" {
		event, err := a.readEvent(path)
		return string(event), err
	}
	name, err := argument(c)
	if err != nil {
		return "", err
	}
	if c.String("tenant") == "" {
		return "", fail(exitUsage, "--tenant is required with a sample")
	}
	message, err := examples.Event(name, c.String("tenant"))
	if err != nil {
		why := operator.NoSuch("event", name, event.Types())
		return "", fail(exitUsage, "%s: %s; see herald events list", safe(name), why)
	}
	return message.Body()
}

// readEvent reads a file that holds a JSON object.
func (a *app) readEvent(path string) (jsontext.Value, error) {
	b, err := a.read(path)
	if err != nil {
		return nil, err
	}
	var object map[string]jsontext.Value
	if err := json.Unmarshal(b, &object); err != nil {
		return nil, fail(exitUsage, "%s is no JSON object: %v", path, err)
	}
	return b, nil
}
