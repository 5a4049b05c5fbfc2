package mapping

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// failures reads a partial batch response by AWS's rules and returns the ids that failed. An empty answer or list
// means that all succeeded. An error means that the whole batch failed: the answer is anything else than a list of
// items that each name a message of the batch.
func failures(answer []byte, batch []types.Message) (map[string]bool, error) {
	if len(answer) == 0 {
		return nil, nil
	}
	var response events.SQSEventResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("decoding partial batch response: %w", err)
	}
	ids := make(map[string]bool, len(batch))
	for _, message := range batch {
		ids[aws.ToString(message.MessageId)] = true
	}
	failed := make(map[string]bool, len(response.BatchItemFailures))
	for _, item := range response.BatchItemFailures {
		if !ids[item.ItemIdentifier] {
			return nil, errors.New("a partial batch response names no message of the batch")
		}
		failed[item.ItemIdentifier] = true
	}
	return failed, nil
}
