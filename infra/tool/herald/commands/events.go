package commands

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

func eventCommands(s setup) *cli.Command {
	return group("events", "events as an auth service sends them",
		findCommand(s), typesCommand(s), checkCommand(s),
		command("send [TYPE]", "send a sample, or a file, to the stack's events queue", s.on(sendEvent),
			usage.Text("tenant", "the tenant of the sample"), usage.Text("file", "an event message, or - for standard input")),
	)
}

func sendEvent(ctx context.Context, c call) error {
	body, err := eventBody(c)
	if err != nil {
		return err
	}
	if c.dryRun() {
		c.PrintJSON(jsontext.Value(body))
		return nil
	}
	if err := c.confirm("Send this event to its endpoints"); err != nil {
		return err
	}
	out, err := sqs.NewFromConfig(c.stack.AWS).SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: aws.String(c.stack.Outputs["EventsQueueUrl"]), MessageBody: &body,
	})
	if err != nil {
		return c.stack.Explain("sending the event (policy EventPublishers)", err)
	}
	c.Print(aws.ToString(out.MessageId))
	return nil
}

// eventBody is the file's, or a sample's.
func eventBody(c call) (string, error) {
	if path := c.line.String("file"); path != "" && c.line.Args().Present() {
		return "", exit.With(exit.Usage, "give either a TYPE or --file, not both")
	} else if path != "" {
		event, err := c.ReadObject(path)
		return string(event), err
	}
	name, err := usage.Argument(c.line)
	if err != nil {
		return "", err
	}
	if c.line.String("tenant") == "" {
		return "", exit.With(exit.Usage, "--tenant is required with a sample")
	}
	message, err := examples.Event(name, c.line.String("tenant"))
	if err != nil {
		why := invoke.NoSuch("event", name, event.Types())
		return "", exit.With(exit.Usage, "%s: %s; see herald types", answers.Safe(name), why)
	}
	return message.Body()
}
