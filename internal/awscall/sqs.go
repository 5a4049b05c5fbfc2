package awscall

import (
	"context"
	"crypto/md5" //nolint:gosec // the checksum of the SQS protocol
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/schemas"
)

// SQS is the SDK's client, with calls of its own in place of those that queue workers make most. What
// has options of its own goes through the SDK all the same, as with DynamoDB.
type SQS struct {
	*sqs.Client
	service service
}

// NewSQS returns a client of SQS.
func NewSQS(cfg aws.Config) *SQS {
	client := sqs.NewFromConfig(cfg)
	o := client.Options()
	s := &SQS{Client: client, service: service{
		id: sqs.ServiceID, protocol: o.Protocol, types: sqs.TypeRegistry,
		credentials: o.Credentials, retries: newRetries(o.Retryer), http: o.HTTPClient,
		custom: len(o.APIOptions) > 0,
	}}
	s.service.at(o.EndpointResolverV2.ResolveEndpoint(context.Background(), sqs.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
	}))
	s.service.signing = newSigning(o.HTTPSignerV4, "sqs", o.Region, s.service.endpoint)
	return s
}

var (
	sendMessageBatch = operation(
		schemas.SendMessageBatch, schemas.SendMessageBatchRequest, schemas.SendMessageBatchResult)
	changeVisibilityBatch = operation(schemas.ChangeMessageVisibilityBatch,
		schemas.ChangeMessageVisibilityBatchRequest, schemas.ChangeMessageVisibilityBatchResult)
)

// SendMessageBatch is sqs.Client.SendMessageBatch.
func (s *SQS) SendMessageBatch(
	ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	if s.service.custom || len(options) > 0 {
		return s.Client.SendMessageBatch(ctx, in, options...)
	}
	out, err := call(ctx, &s.service, sendMessageBatch, in, &sqs.SendMessageBatchOutput{})
	if err != nil {
		return nil, err
	}
	if err := verifyMD5(in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// ChangeMessageVisibilityBatch is sqs.Client.ChangeMessageVisibilityBatch.
func (s *SQS) ChangeMessageVisibilityBatch(
	ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, options ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if s.service.custom || len(options) > 0 {
		return s.Client.ChangeMessageVisibilityBatch(ctx, in, options...)
	}
	return call(ctx, &s.service, changeVisibilityBatch, in, &sqs.ChangeMessageVisibilityBatchOutput{})
}

// verifyMD5 compares what SQS took with what was sent.
func verifyMD5(in *sqs.SendMessageBatchInput, out *sqs.SendMessageBatchOutput) error {
	sent := make(map[string]*string, len(in.Entries))
	for _, e := range in.Entries {
		sent[aws.ToString(e.Id)] = e.MessageBody
	}
	for _, e := range out.Successful {
		body := sent[aws.ToString(e.Id)]
		if body == nil || e.MD5OfMessageBody == nil {
			continue
		}
		sum := md5.Sum([]byte(*body)) //nolint:gosec // the checksum of the SQS protocol
		if hex.EncodeToString(sum[:]) != *e.MD5OfMessageBody {
			return fmt.Errorf("SQS took another body than message %q was sent with", aws.ToString(e.MessageId))
		}
	}
	return nil
}
