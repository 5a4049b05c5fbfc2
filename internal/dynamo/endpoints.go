package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// EndpointsClient is the part of the DynamoDB client that Endpoints calls.
type EndpointsClient interface {
	EndpointsWriter
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Endpoints keeps the tenants' endpoints. Every read is strongly consistent: a change holds
// for whatever starts after it was answered.
type Endpoints struct {
	client EndpointsClient
	table  string
	fields *string // of Get and List; nil: all
}

// NewEndpoints returns the store on table.
func NewEndpoints(client EndpointsClient, table string) *Endpoints {
	return &Endpoints{client: client, table: table}
}

// shownAttributes are what operators may see of an endpoint; url is a word of DynamoDB's own.
const shownAttributes = "tenant_id, endpoint_id, #url, events, #status, " +
	"created_at, updated_at, deleted_at, secret_rotated_at"

// WithoutSecrets returns the store whose Get and List ask for nothing that is sealed, as the roles
// of functions for operators demand. What it returns cannot be written back.
func (s *Endpoints) WithoutSecrets() *Endpoints {
	return &Endpoints{client: s.client, table: s.table, fields: aws.String(shownAttributes)}
}

// names are the placeholders in fields.
func (s *Endpoints) names() map[string]string {
	if s.fields == nil {
		return nil
	}
	return map[string]string{"#status": "status", "#url": "url"}
}

// EndpointKey names one endpoint.
type EndpointKey struct{ TenantID, EndpointID string }

func (k EndpointKey) item() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"tenant_id": str(k.TenantID), "endpoint_id": str(k.EndpointID)}
}

// Get returns one endpoint of the tenant, whatever its status.
func (s *Endpoints) Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                aws.String(s.table),
		Key:                      EndpointKey{tenantID, endpointID}.item(),
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     s.fields,
		ExpressionAttributeNames: s.names(),
	})
	if err != nil {
		return e, false, fmt.Errorf("reading endpoint: %w", err)
	}
	if len(out.Item) == 0 {
		return e, false, nil
	}
	return endpointOf(out.Item), true, nil
}

// Subscriptions returns the tenant's active endpoints.
func (s *Endpoints) Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	all, err := s.List(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	active := all[:0]
	for _, e := range all {
		if e.Status == endpoint.Active {
			active = append(active, e)
		}
	}
	return active, nil
}

// List returns all of the tenant's endpoints, oldest first, deleted ones included.
func (s *Endpoints) List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	var found []endpoint.Endpoint
	var start map[string]types.AttributeValue
	for {
		out, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName:              aws.String(s.table),
			KeyConditionExpression: aws.String("tenant_id = :tenant AND begins_with(endpoint_id, :prefix)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":tenant": str(tenantID), ":prefix": str(endpoint.IDPrefix),
			},
			ProjectionExpression:     s.fields,
			ExpressionAttributeNames: s.names(),
			ConsistentRead:           aws.Bool(true),
			ExclusiveStartKey:        start,
		})
		if err != nil {
			return nil, fmt.Errorf("listing endpoints: %w", err)
		}
		for _, item := range out.Items {
			found = append(found, endpointOf(item))
		}
		if start = out.LastEvaluatedKey; len(start) == 0 {
			return found, nil
		}
	}
}

func endpointOf(item map[string]types.AttributeValue) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID:              getStr(item, "endpoint_id"),
		TenantID:        getStr(item, "tenant_id"),
		URL:             getStr(item, "url"),
		Description:     getStr(item, "description"),
		Events:          getStrs(item, "events"),
		SealedSecret:    getBytes(item, "sealed_secret"),
		Status:          endpoint.Status(getStr(item, "status")),
		CreatedAt:       getTime(item, "created_at"),
		UpdatedAt:       getTime(item, "updated_at"),
		DeletedAt:       getTime(item, "deleted_at"),
		SecretRotatedAt: getTime(item, "secret_rotated_at"),
		SecretVersion:   int(getNum(item, "secret_version")),
		Revision:        getStr(item, "revision"),
	}
}
