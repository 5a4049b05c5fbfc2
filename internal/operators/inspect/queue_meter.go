package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// queueMeter measures queues. The counts are SQS's approximations.
type queueMeter struct {
	meter QueueMeter

	// URLs by logical id.
	urls map[string]string
}

// eventsDeadLetterQueue is the logical id of the queue of rejected events.
const eventsDeadLetterQueue = "EventsDeadLetterQueue"

// depths measures all queues, by logical id. It asks for one after the other: there are six.
func (m queueMeter) depths(ctx context.Context) (map[string]api.Depth, error) {
	depths := map[string]api.Depth{}
	for name, url := range m.urls {
		d, err := m.depth(ctx, url)
		if err != nil {
			return nil, err
		}
		depths[name] = d
	}
	return depths, nil
}

// depth measures one queue.
func (m queueMeter) depth(ctx context.Context, url string) (d api.Depth, err error) {
	counts := map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &d.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &d.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &d.Delayed,
	}
	out, err := m.meter.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(url), AttributeNames: slices.Collect(maps.Keys(counts)),
	})
	if err != nil {
		return api.Depth{}, fmt.Errorf("measuring a queue: %w", err)
	}
	for name, count := range counts {
		n, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return api.Depth{}, fmt.Errorf("reading %s: %w", name, err)
		}
		*count = n
	}
	return d, nil
}
