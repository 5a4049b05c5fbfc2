//go:build emulator

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventstypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
)

// A topic with raw message delivery hands over what was published.
func TestATopicPublishesByRawMessageDelivery(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	topic := sns(t, c, "CreateTopic", "Name", unique("topic"))
	sns(t, c, "Subscribe", "TopicArn", topic, "Protocol", "sqs", "Endpoint", eventsQueueARN(t, c),
		"Attributes.entry.1.key", "RawMessageDelivery", "Attributes.entry.1.value", "true")
	message := sample(t, c)
	body, err := message.Body()
	if err != nil {
		t.Fatal(err)
	}
	s.arrives(t, message, func() { sns(t, c, "Publish", "TopicArn", topic, "Message", body) })
}

// The recipe of publishing.md makes a message of what an event on a bus has in its detail. The emulator writes a text
// into the template as it is, where EventBridge puts it in quotes.
func TestABusPublishesByTheRecipesInputTransformer(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	transformer := recipe(t)
	for _, text := range []string{"id", "tenant", "type"} {
		quoted := strings.ReplaceAll(*transformer.InputTemplate, "<"+text+">", `"<`+text+`>"`)
		transformer.InputTemplate = &quoted
	}
	source, rule := unique("source"), unique("rule")
	if _, err := c.EventBridge.PutRule(t.Context(), &eventbridge.PutRuleInput{
		Name: &rule, EventPattern: aws.String(fmt.Sprintf(`{"source":[%q]}`, source)),
	}); err != nil {
		t.Fatal(err)
	}
	target := eventstypes.Target{
		Id: aws.String("herald"), Arn: aws.String(eventsQueueARN(t, c)), InputTransformer: transformer,
	}
	if _, err := c.EventBridge.PutTargets(t.Context(), &eventbridge.PutTargetsInput{
		Rule: &rule, Targets: []eventstypes.Target{target},
	}); err != nil {
		t.Fatal(err)
	}
	message := sample(t, c)
	detail, err := json.Marshal(map[string]any{
		"id": message.ID, "tenant_id": c.TenantID, "type": message.Type, "data": message.Data,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.arrives(t, message, func() {
		if _, err := c.EventBridge.PutEvents(t.Context(), &eventbridge.PutEventsInput{
			Entries: []eventstypes.PutEventsRequestEntry{
				{Source: &source, DetailType: &message.Type, Detail: aws.String(string(detail))},
			},
		}); err != nil {
			t.Error(err)
		}
	})
}

// sample is an event with an id, so that sending it twice makes one delivery.
func sample(t *testing.T, c *client.Client) examples.Message {
	t.Helper()
	message, err := examples.Event("organization.created", c.TenantID)
	if err != nil {
		t.Fatal(err)
	}
	message.ID, message.OccurredAt = unique("evt"), ""
	return message
}

// arrives has an event published until it is delivered: the emulator can lose one of two messages sent at once.
func (s subscription) arrives(t *testing.T, message examples.Message, send func()) {
	t.Helper()
	var sent time.Time
	eventually(t, "the event", func(context.Context) (bool, error) {
		if time.Since(sent) > 10*time.Second {
			sent = time.Now()
			send()
		}
		return len(s.Requests()) > 0, nil
	})
	got := s.Requests()
	genuine(t, got)
	var want, data any
	if err := json.Unmarshal([]byte(message.Payload()), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got[0].Body, &data); err != nil || fmt.Sprint(want) != fmt.Sprint(data) {
		t.Errorf("%v: the body is %s, want %s", err, got[0].Body, message.Payload())
	}
}

// recipe is the input transformer of publishing.md.
func recipe(t *testing.T) *eventstypes.InputTransformer {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "infra", "docs", "publishing.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### EventBridge\n")
	_, block, _ := strings.Cut(section, "```json\n")
	block, _, _ = strings.Cut(block, "```")
	var transformer eventstypes.InputTransformer
	if err := json.Unmarshal([]byte(block), &transformer); err != nil || transformer.InputTemplate == nil {
		t.Fatalf("the recipe is %s: %v", block, err)
	}
	return &transformer
}

func eventsQueueARN(t *testing.T, c *client.Client) string {
	t.Helper()
	described, err := c.SQS.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &c.EventsQueueURL, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatal(err)
	}
	return described.Attributes["QueueArn"]
}

var topicARN = regexp.MustCompile(`<TopicArn>(.*)</TopicArn>`)

// sns makes a request to SNS, whose client no program of ours needs, and returns the ARN of a topic in its answer.
func sns(t *testing.T, c *client.Client, action string, parameters ...string) string {
	t.Helper()
	form := url.Values{"Action": {action}, "Version": {"2010-03-31"}}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	body := strings.NewReader(form.Encode())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.AWSEndpointURL, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/"+c.Region+"/sns/aws4_request")
	response, err := http.DefaultClient.Do(request) // not the one that compares answers with openapi.yaml
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v: %s", action, response.StatusCode, err, answer)
	}
	if arn := topicARN.FindSubmatch(answer); arn != nil {
		return string(arn[1])
	}
	return ""
}
