package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/process"
)

// printCommands prints what can be pasted into another terminal.
func (d *demo) printCommands() {
	c, tenant := d.client, d.events.tenant
	dead := "msg_…"
	if len(d.deadLetters) > 0 {
		dead = d.deadLetters[0]
	}
	heading("The stack stays up until Ctrl-C. In another terminal, from this folder:")
	fmt.Printf(`
export PATH="$PWD/.venv/bin:$PATH" AWS_ENDPOINT_URL=%s AWS_ENDPOINT_URL_LAMBDA=%s
export AWS_REGION=%s AWS_DEFAULT_REGION=%[3]s AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
export HERALD_API=%s HERALD_KEY=%s EVENTS_QUEUE_URL=%s

# the tenant's endpoints, and one more
curl -s "$HERALD_API/v1/webhooks" -H "Authorization: Bearer $HERALD_KEY"
curl -s "$HERALD_API/v1/webhooks" -H "Authorization: Bearer $HERALD_KEY" -H 'Content-Type: application/json' \
  -d '{"url":"%s","events":["organization.deleted"],"description":"from the command line"}'

# an event; this terminal shows its delivery (version 1 of the AWS CLI ignores the variable for SQS)
aws --endpoint-url "$AWS_ENDPOINT_URL" sqs send-message --queue-url "$EVENTS_QUEUE_URL" \
  --message-body '{"tenant_id":"%s","type":"user.created","data":{"userId":"user_42"}}'

# what an operator sees of a delivery, and its dead letter
aws lambda invoke --function-name %s --payload fileb:///dev/stdin /dev/stdout \
  <<< '{"action":"summary","operator":"me@example.com"}'
aws lambda invoke --function-name %[9]s --payload fileb:///dev/stdin /dev/stdout \
  <<< '{"action":"dead_letter","operator":"me@example.com","delivery_id":"%[10]s"}'

# replaying it (this one has been replayed already, and the answer says so)
aws lambda invoke --function-name %[11]s --payload fileb:///dev/stdin /dev/stdout \
  <<< '{"action":"deliveries","operator":"me@example.com","delivery_ids":["%[10]s"]}'

`, c.AWSEndpointURL, c.LambdaEndpointURL, c.Region, c.APIURL, tenant.APIKey, c.EventsQueueURL,
		d.events.inbox.URL, tenant.TenantID, c.Functions["inspect"], dead, c.Functions["replay"])
}

// watch shows what the first scene's receiver gets until the context or the stack ends.
func (d *demo) watch(ctx context.Context, stack *process.Stack) error {
	header()
	for {
		for _, r := range d.events.inbox.Requests()[d.shown:] {
			row(r, 1, time.Unix(r.Timestamp, 0))
			d.shown++
		}
		select {
		case <-ctx.Done():
			fmt.Println("Stopping …")
			return nil
		case <-stack.Exited():
			return errors.New("the stack ended by itself, see " + d.options.stack.Log)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
