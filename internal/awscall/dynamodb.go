package awscall

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/smithy-go"
)

// DynamoDB is the SDK's client, with calls of its own in place of those that queue workers make
// for every batch. What has options of its own goes through the SDK all the same: a single call, or
// a configuration with APIOptions.
type DynamoDB struct {
	*dynamodb.Client
	service service
}

// NewDynamoDB returns a client of DynamoDB.
func NewDynamoDB(cfg aws.Config) *DynamoDB {
	client := dynamodb.NewFromConfig(cfg)
	o := client.Options()
	d := &DynamoDB{Client: client, service: service{
		id: dynamodb.ServiceID, protocol: o.Protocol,
		types: dynamodb.TypeRegistry, credentials: o.Credentials, retries: newRetries(o.Retryer),
		http: o.HTTPClient, custom: len(o.APIOptions) > 0, verify: verifyCRC32,
	}}
	d.service.at(o.EndpointResolverV2.ResolveEndpoint(context.Background(), dynamodb.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
	}))
	d.service.signing = newSigning(o.HTTPSignerV4, "dynamodb", o.Region, d.service.endpoint)
	return d
}

var (
	batchGetItem   = operation(schemas.BatchGetItem, schemas.BatchGetItemInput, schemas.BatchGetItemOutput)
	batchWriteItem = operation(schemas.BatchWriteItem, schemas.BatchWriteItemInput, schemas.BatchWriteItemOutput)
	query          = operation(schemas.Query, schemas.QueryInput, schemas.QueryOutput)
)

var operation = smithy.NewOperationSchema

// BatchGetItem is dynamodb.Client.BatchGetItem.
func (d *DynamoDB) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	if d.service.custom || len(options) > 0 {
		return d.Client.BatchGetItem(ctx, in, options...)
	}
	return call(ctx, &d.service, batchGetItem, in, &dynamodb.BatchGetItemOutput{})
}

// BatchWriteItem is dynamodb.Client.BatchWriteItem.
func (d *DynamoDB) BatchWriteItem(
	ctx context.Context, in *dynamodb.BatchWriteItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.BatchWriteItemOutput, error) {
	if d.service.custom || len(options) > 0 {
		return d.Client.BatchWriteItem(ctx, in, options...)
	}
	return call(ctx, &d.service, batchWriteItem, in, &dynamodb.BatchWriteItemOutput{})
}

// Query is dynamodb.Client.Query.
func (d *DynamoDB) Query(
	ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	if d.service.custom || len(options) > 0 {
		return d.Client.Query(ctx, in, options...)
	}
	return call(ctx, &d.service, query, in, &dynamodb.QueryOutput{})
}

// verifyCRC32 compares an answer with the checksum that DynamoDB sends with it.
func verifyCRC32(header http.Header, body []byte) error {
	stated := header.Get("X-Amz-Crc32")
	if stated == "" {
		return nil
	}
	if want, err := strconv.ParseUint(stated, 10, 32); err != nil || uint32(want) != crc32.ChecksumIEEE(body) {
		return &smithy.DeserializationError{Err: fmt.Errorf("the answer does not match its checksum %q", stated)}
	}
	return nil
}
