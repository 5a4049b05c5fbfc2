package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// resealEndpoint seals an endpoint's signing secret, the one before it, its owner's headers and its client secret anew,
// under the stack's own key.
func resealEndpoint(ctx context.Context, r *restorer, i item) (item, error) {
	var row struct {
		Secret  int             `dynamodbav:"secret_version"`
		Headers int             `dynamodbav:"headers_version"`
		OAuth   *endpoint.OAuth `dynamodbav:"oauth2"`
		Client  int             `dynamodbav:"oauth2_version"`
	}
	if err := attributevalue.UnmarshalMap(i, &row); err != nil {
		return nil, fmt.Errorf("reading an endpoint: %w", err)
	}
	e := endpoint.Endpoint{
		TenantID: text(i, "tenant_id"), ID: strings.TrimPrefix(text(i, "endpoint_id"), deletedPrefix), URL: text(i, "url"),
		SecretVersion: row.Secret, HeadersVersion: row.Headers, OAuth: row.OAuth, OAuthVersion: row.Client,
		PublicKey: text(i, "public_key"), PreviousKey: text(i, "previous_key"),
	}
	i, err := resealOne(ctx, r, i, "sealed_secret", keyring.SecretOf(e))
	if err != nil {
		return nil, err
	}
	i, err = resealOne(ctx, r, i, "sealed_previous", keyring.PreviousOf(e))
	if err != nil {
		return nil, err
	}
	i, err = resealOne(ctx, r, i, "sealed_headers", keyring.HeadersOf(e))
	if err != nil {
		return nil, err
	}
	return resealOne(ctx, r, i, "sealed_oauth2", keyring.ClientSecretOf(e))
}

// resealOne seals an attribute anew, if the item has it.
func resealOne(ctx context.Context, r *restorer, i item, name string, id keyring.SecretID) (item, error) {
	sealed, ok := i[name].(*types.AttributeValueMemberB)
	if !ok {
		return i, nil
	}
	plain, err := keyring.NewSecrets(r.kms, r.key).Open(ctx, id, sealed.Value)
	if err != nil {
		return nil, fmt.Errorf("opening %s of %s: %w", name, id.EndpointID, err)
	}
	anew, err := keyring.NewSecrets(r.kms, r.ownKey).Seal(ctx, id, plain)
	if err != nil {
		return nil, fmt.Errorf("sealing %s of %s: %w", name, id.EndpointID, err)
	}
	i = maps.Clone(i)
	i[name] = &types.AttributeValueMemberB{Value: anew}
	return i, nil
}

// resealLetter seals a dead letter's body and all its deaths anew.
func resealLetter(ctx context.Context, r *restorer, i item) (item, error) {
	id := text(i, "delivery_id")
	record, found, err := dynamo.NewDeadLetters(r.client, r.from).Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading dead letter %s: %w", id, err)
	}
	if !found {
		return nil, fmt.Errorf("dead letter %s is gone from the copy", id)
	}
	old := keyring.NewVault(r.kms, r.key)
	own := keyring.NewVault(r.kms, r.ownKey)
	open, err := old.OpenAll(ctx, record)
	if err != nil {
		return nil, fmt.Errorf("opening dead letter %s: %w", id, err)
	}
	sealed, err := own.SealDeath(ctx, record,
		deadletter.Death{Body: open.Body, Attributes: open.Attributes, Entry: open.History[0]})
	if err != nil {
		return nil, fmt.Errorf("sealing dead letter %s: %w", id, err)
	}
	for n, death := range open.History[1:] {
		entry, err := own.SealEntry(ctx, record, n+2, death)
		if err != nil {
			return nil, fmt.Errorf("sealing dead letter %s: %w", id, err)
		}
		sealed.History = append(sealed.History, entry)
	}
	parts, err := attributevalue.MarshalMap(sealed)
	if err != nil {
		return nil, fmt.Errorf("encoding dead letter %s: %w", id, err)
	}
	i = maps.Clone(i)
	maps.Copy(i, parts)
	return i, nil
}
