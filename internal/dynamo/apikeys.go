package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/apikey"
)

// APIKeysClient is the part of the DynamoDB client that APIKeys calls.
type APIKeysClient interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// APIKeys keeps what is known of API keys. A revoked key is kept, so that it can be told
// from one that never was.
type APIKeys struct {
	client APIKeysClient
	table  string
}

// NewAPIKeys returns the store on table.
func NewAPIKeys(client APIKeysClient, table string) *APIKeys {
	return &APIKeys{client: client, table: table}
}

// Get returns the key, strongly consistent: revocation holds for the next request. It is the
// one read without a tenant, since it tells who the tenant is.
func (s *APIKeys) Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            map[string]types.AttributeValue{"key_id": str(keyID)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return key, false, fmt.Errorf("reading API key: %w", err)
	}
	if len(out.Item) == 0 {
		return key, false, nil
	}
	return keyOf(out.Item), true, nil
}

// Put stores a new key. An id that is taken is an error, unless it is the same key: the SDK
// may have repeated a call whose answer was lost.
func (s *APIKeys) Put(ctx context.Context, key apikey.Key) error {
	item := map[string]types.AttributeValue{
		"key_id":     str(key.ID),
		"tenant_id":  str(key.TenantID),
		"scopes":     strs(key.Scopes),
		"hash":       bytes(key.Hash),
		"created_at": stamp(key.CreatedAt),
	}
	if key.Description != "" {
		item["description"] = str(key.Description)
	}
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                 aws.String(s.table),
		Item:                      item,
		ConditionExpression:       aws.String("attribute_not_exists(key_id) OR #hash = :hash"),
		ExpressionAttributeNames:  map[string]string{"#hash": "hash"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":hash": item["hash"]},
	})
	if err != nil {
		return fmt.Errorf("storing API key: %w", err)
	}
	return nil
}

// ListByTenant returns a page of the tenant's keys, newest first, revoked ones included. The
// index trails the table by moments. next is "" after the last page.
func (s *APIKeys) ListByTenant(
	ctx context.Context, tenantID string, limit int, cursor string,
) (keys []apikey.Key, next string, err error) {
	start, err := decodeCursor(cursor, "key_id", "tenant_id")
	if err != nil {
		return nil, "", err
	}
	if start != nil && getStr(start, "tenant_id") != tenantID {
		return nil, "", ErrCursor
	}
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String("by-tenant"),
		KeyConditionExpression:    aws.String("tenant_id = :tenant"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":tenant": str(tenantID)},
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(limit)), //nolint:gosec // at most 100
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing API keys: %w", err)
	}
	for _, item := range out.Items {
		keys = append(keys, keyOf(item))
	}
	return keys, encodeCursor(out.LastEvaluatedKey), nil
}

// Revoke ends the tenant's key at now and returns it; found is false when the tenant has no
// such key. A key revoked before keeps its first time.
func (s *APIKeys) Revoke(
	ctx context.Context, tenantID, keyID string, now time.Time,
) (key apikey.Key, found bool, err error) {
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:           aws.String(s.table),
		Key:                 map[string]types.AttributeValue{"key_id": str(keyID)},
		UpdateExpression:    aws.String("SET revoked_at = if_not_exists(revoked_at, :now)"),
		ConditionExpression: aws.String("tenant_id = :tenant"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":tenant": str(tenantID), ":now": stamp(now),
		},
		ReturnValues: types.ReturnValueAllNew,
	})
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return key, false, nil
	}
	if err != nil {
		return key, false, fmt.Errorf("revoking API key: %w", err)
	}
	return keyOf(out.Attributes), true, nil
}

func keyOf(item map[string]types.AttributeValue) apikey.Key {
	key := apikey.Key{
		ID:          getStr(item, "key_id"),
		TenantID:    getStr(item, "tenant_id"),
		Description: getStr(item, "description"),
		Hash:        getBytes(item, "hash"),
		CreatedAt:   getTime(item, "created_at"),
		RevokedAt:   getTime(item, "revoked_at"),
	}
	for _, scope := range getStrs(item, "scopes") {
		key.Scopes = append(key.Scopes, apikey.Scope(scope))
	}
	return key
}
