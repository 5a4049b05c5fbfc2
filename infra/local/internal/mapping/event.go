package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// record is one message as Lambda shows it to a function.
type record struct {
	MessageID              string               `json:"messageId"`
	ReceiptHandle          string               `json:"receiptHandle"`
	Body                   string               `json:"body"`
	Attributes             map[string]string    `json:"attributes"`
	MessageAttributes      map[string]attribute `json:"messageAttributes"`
	MD5OfMessageAttributes string               `json:"md5OfMessageAttributes,omitempty"`
	MD5OfBody              string               `json:"md5OfBody"`
	EventSource            string               `json:"eventSource"`
	EventSourceARN         string               `json:"eventSourceARN"`
	AWSRegion              string               `json:"awsRegion"`
}

type attribute struct {
	StringValue      *string  `json:"stringValue,omitempty"`
	BinaryValue      []byte   `json:"binaryValue,omitempty"`
	StringListValues []string `json:"stringListValues"`
	BinaryListValues [][]byte `json:"binaryListValues"`
	DataType         string   `json:"dataType"`
}

// event encodes messages as the payload of an invocation.
func (c Config) event(messages []types.Message) ([]byte, error) {
	records := make([]record, 0, len(messages))
	for _, m := range messages {
		r := record{
			MessageID: aws.ToString(m.MessageId), ReceiptHandle: aws.ToString(m.ReceiptHandle),
			Body: aws.ToString(m.Body), MD5OfBody: aws.ToString(m.MD5OfBody),
			MD5OfMessageAttributes: aws.ToString(m.MD5OfMessageAttributes),
			Attributes:             m.Attributes, MessageAttributes: map[string]attribute{},
			EventSource: "aws:sqs", EventSourceARN: c.QueueARN, AWSRegion: c.Region,
		}
		for name, v := range m.MessageAttributes {
			r.MessageAttributes[name] = attribute{
				StringValue: v.StringValue, BinaryValue: v.BinaryValue, DataType: aws.ToString(v.DataType),
				StringListValues: []string{}, BinaryListValues: [][]byte{},
			}
		}
		records = append(records, r)
	}
	var payload bytes.Buffer
	encoder := json.NewEncoder(&payload)
	encoder.SetEscapeHTML(false) // Lambda does not, and it would change the size
	if err := encoder.Encode(map[string]any{"Records": records}); err != nil {
		return nil, fmt.Errorf("encoding batch: %w", err)
	}
	return bytes.TrimSuffix(payload.Bytes(), []byte("\n")), nil
}
