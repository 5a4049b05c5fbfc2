package statefile

import (
	"fmt"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Environment are the variables that make AWS's own clients use the stack: a profile, and its region once more
// for machines on which the environment names another.
func (s State) Environment() []string {
	return []string{
		"AWS_CONFIG_FILE=" + s.AWSConfigFile, "AWS_PROFILE=" + Profile,
		"AWS_REGION=" + s.Region, "AWS_DEFAULT_REGION=" + s.Region,
	}
}

// Export is a shell's line that makes the AWS CLI and the SAM CLI of the checkout use the stack.
func (s State) Export() string {
	return `export PATH="$PWD/.venv/bin:$PATH" SAM_CLI_TELEMETRY=0 '` + strings.Join(s.Environment(), "' '") + "'"
}

// Commands returns shell commands to use the stack. They work from the folder of the checkout: the end-to-end tests run
// them.
func (s State) Commands() string {
	eventType, data := "user.created", `{"userId":"user_42"}`
	if types := catalogue.Types(); !catalogue.Specified(eventType) { // the adopter's catalogue has its own, or none
		eventType, data = types[0].Name, strings.ReplaceAll(types[0].Example, "'", `'\''`)
	}
	return fmt.Sprintf(`%s

# the tenant's endpoints, an event and an operator's request
curl -sS %s/v1/webhooks -H 'Authorization: Bearer %s'; echo
aws sqs send-message --queue-url %s \
  --message-body '{"tenant_id":"%s","type":"%s","data":%s}'
aws lambda invoke --function-name %s \
  --payload '{"action":"summary","operator":"me@example.com"}' .local/answer.json
cat .local/answer.json; echo
`, s.Export(), s.APIURL, s.APIKey, s.EventsQueueURL, s.TenantID, eventType, data, s.Functions["inspect"])
}
