package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/health"
)

// Get returns the item of an endpoint, whoever its tenant is, strongly consistent. Without one it
// returns an item of version 0 with nothing but the endpoint's id.
func (h *Health) Get(ctx context.Context, endpointID string) (health.Item, error) {
	return h.get(ctx, health.Item{EndpointID: endpointID})
}

// GetTenant does the same for a tenant's item.
func (h *Health) GetTenant(ctx context.Context, tenantID string) (health.Item, error) {
	return h.get(ctx, health.Item{TenantID: tenantID})
}

func (h *Health) get(ctx context.Context, name health.Item) (health.Item, error) {
	out, err := h.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(h.table),
		Key:            healthKey(name),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return health.Item{}, fmt.Errorf("reading health: %w", err)
	}
	if len(out.Item) == 0 {
		return name, nil
	}
	return healthItemOf(out.Item), nil
}
