package jobs_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// unmeasured is a queue without messages, for inspect.
type unmeasured struct{}

// GetQueueAttributes counts none.
func (unmeasured) GetQueueAttributes(
	_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options),
) (*sqs.GetQueueAttributesOutput, error) {
	counts := map[string]string{}
	for _, name := range in.AttributeNames {
		counts[string(name)] = "0"
	}
	return &sqs.GetQueueAttributesOutput{Attributes: counts}, nil
}
