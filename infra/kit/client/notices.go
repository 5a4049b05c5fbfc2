package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Notices is a queue to which a rule sends the owners' notices.
type Notices struct {
	sqs  *sqs.Client
	url  *string
	seen map[string][]circuit.Kind // by endpoint
}

// Listen makes a queue and a rule on the stack's bus that are called name.
func (c *Client) Listen(ctx context.Context, name string) (*Notices, error) {
	queue, err := c.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		return nil, fmt.Errorf("making a queue for notices: %w", err)
	}
	described, err := c.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: queue.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return nil, fmt.Errorf("reading a queue for notices: %w", err)
	}
	bus, arn := aws.String(c.StackName+"-notices"), described.Attributes["QueueArn"]
	_, err = c.EventBridge.PutRule(ctx, &eventbridge.PutRuleInput{
		Name: &name, EventBusName: bus, EventPattern: aws.String(`{"source":["` + notice.Source + `"]}`),
	})
	if err == nil {
		_, err = c.EventBridge.PutTargets(ctx, &eventbridge.PutTargetsInput{
			Rule: &name, EventBusName: bus, Targets: []types.Target{{Id: aws.String("queue"), Arn: &arn}},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("making a rule for notices: %w", err)
	}
	return &Notices{sqs: c.SQS, url: queue.QueueUrl, seen: map[string][]circuit.Kind{}}, nil
}

// Of receives new notices, and returns the kinds of all of an endpoint's, sorted, each once.
func (n *Notices) Of(ctx context.Context, endpointID string) ([]circuit.Kind, error) {
	for {
		out, err := n.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: n.url, MaxNumberOfMessages: 10, VisibilityTimeout: 12 * 60 * 60,
		})
		if err != nil {
			return nil, fmt.Errorf("receiving notices: %w", err)
		}
		for _, m := range out.Messages {
			var event struct {
				Detail notice.Notice `json:"detail"`
			}
			if err := json.Unmarshal([]byte(*m.Body), &event); err != nil {
				return nil, fmt.Errorf("decoding a notice: %w", err)
			}
			of := event.Detail.EndpointID
			n.seen[of] = append(n.seen[of], event.Detail.Kind)
		}
		if len(out.Messages) == 0 {
			return slices.Compact(slices.Sorted(slices.Values(n.seen[endpointID]))), nil
		}
	}
}
