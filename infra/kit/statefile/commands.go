package statefile

import (
	"fmt"
	"slices"
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
	eventType, data := suggested(catalogue.Types())
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

// suggested is an event to try: of the adopter's catalogue where it has types of its own, and else of the
// specification. data is for single quotes of a shell.
func suggested(types []catalogue.Type) (name, data string) {
	const specified = "user.created"
	own := func(t catalogue.Type) bool { return !catalogue.Specified(t.Name) && !t.Deprecated }
	at := slices.IndexFunc(types, own)
	if at < 0 && slices.ContainsFunc(types, func(t catalogue.Type) bool { return t.Name == specified }) {
		return specified, `{"userId":"user_42"}`
	}
	t := types[max(at, 0)]
	return t.Name, strings.ReplaceAll(t.Example, "'", `'\''`)
}
