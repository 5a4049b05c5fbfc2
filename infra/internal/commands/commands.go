// Package commands has the commands that the local stack and the demonstration print for readers to run in
// a terminal of their own.
//
// It promises commands that work as they stand in a shell whose folder is the checkout: the end-to-end tests
// run them. It runs nothing itself.
package commands

import (
	"fmt"
	"strings"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
)

// Environment is the line that makes the AWS CLI and the SAM CLI of the checkout use the stack.
func Environment(s statefile.State) string {
	return `export PATH="$PWD/.venv/bin:$PATH" SAM_CLI_TELEMETRY=0 '` + strings.Join(s.Environment(), "' '") + "'"
}

// Stack are the commands for a stack with nothing in it.
func Stack(s statefile.State) string {
	return fmt.Sprintf(`%s

# the tenant's endpoints, an event and an operator's request
curl -sS %s/v1/webhooks -H 'Authorization: Bearer %s'; echo
aws sqs send-message --queue-url %s \
  --message-body file://infra/examples/events/user.created.json
sam remote invoke InspectFunction --stack-name %s --event '{"action":"summary","operator":"me@example.com"}'
`, Environment(s), s.APIURL, s.APIKey, s.EventsQueueURL, s.StackName)
}

// Played has the results of a demonstration.
type Played struct {
	TenantID, APIKey string
	ReceiverURL      string // of an endpoint that still answers
	DeadLetter       string // the id of a delivery that died and was replayed
}

// Demonstration are the commands for a stack that has been demonstrated.
func Demonstration(s statefile.State, p Played) string {
	return fmt.Sprintf(`%s

# another endpoint of the tenant
curl -sS %s/v1/webhooks -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
  -d '{"url":"%s?second","events":["organization.deleted"],"description":"from the command line"}'; echo

# an event; this terminal shows its delivery
aws sqs send-message --queue-url %s \
  --message-body '{"tenant_id":"%s","type":"user.created","data":{"userId":"user_42"}}'

# what an operator sees of a dead letter, and its replay (it has been replayed already, and the answer says so)
sam remote invoke InspectFunction --stack-name %s \
  --event '{"action":"dead_letter","operator":"me@example.com","delivery_id":"%s"}'
aws lambda invoke --function-name %s \
  --payload '{"action":"deliveries","operator":"me@example.com","delivery_ids":["%[8]s"]}' .local/answer.json
cat .local/answer.json; echo
`, Environment(s), s.APIURL, p.APIKey, p.ReceiverURL, s.EventsQueueURL, p.TenantID, s.StackName, p.DeadLetter,
		s.Functions["replay"])
}
