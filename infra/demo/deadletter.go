package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// doom publishes an event to a receiver that stays down. Its delivery dies during the next scene.
func (d *demo) doom(ctx context.Context) error {
	var err error
	if d.doomed.scene, err = d.open(ctx, "outage", "user.banned"); err != nil {
		return err
	}
	d.doomed.inbox.Fail(slices.Repeat([]int{500}, 100)...)
	d.doomed.message, d.doomed.at, err = d.doomed.publish(ctx, "user.banned", "")
	return err
}

func (d *demo) deadLetter(ctx context.Context) error {
	heading("A receiver that stays down: dead, sealed, inspected, replayed, acknowledged")
	s, message, at := d.doomed.scene, d.doomed.message, d.doomed.at
	letter, err := d.died(ctx, s.endpoint.ID)
	if err != nil {
		return err
	}
	d.deadLetters = append(d.deadLetters, letter.DeliveryID)
	attempts := s.inbox.Requests()
	header()
	for i, r := range attempts {
		row(r, i+1, at)
	}
	d.check(letter.Attempts == len(attempts), "dead after %d attempts, reason %s, last status %d",
		letter.Attempts, letter.Reason, letter.LastStatus)
	if err := d.sealed(ctx, letter.DeliveryID, message.Payload()); err != nil {
		return err
	}
	opened, err := d.client.DeadLetter(ctx, letter.DeliveryID)
	if err != nil {
		return err
	}
	d.check(opened.Body == message.Payload(), "inspect opens it: the %d bytes that were published", len(opened.Body))

	s.inbox.Fail() // the receiver is back
	if err := d.client.Replay(ctx, letter.DeliveryID); err != nil {
		return err
	}
	before := len(attempts)
	if attempts, err = s.await(ctx, before+1); err != nil {
		return err
	}
	replayed := attempts[before]
	header()
	row(replayed, before+1, at)
	d.check(replayed.ID == letter.DeliveryID && replayed.Status == 200 && replayed.Standard == nil,
		"replayed with the same wh-id and verified")
	state, err := d.acknowledged(ctx, letter.DeliveryID)
	d.check(err == nil, "the operator sees: %s", state.State)
	return nil
}

// died waits for the endpoint's first dead letter.
func (d *demo) died(ctx context.Context, endpointID string) (client.DeadLetter, error) {
	var letters []client.DeadLetter
	err := client.Eventually(ctx, patience, "the dead letter", func(ctx context.Context) (bool, error) {
		var err error
		letters, err = d.client.DeadLetters(ctx, endpointID)
		return len(letters) > 0, err
	})
	if err != nil {
		return client.DeadLetter{}, err
	}
	return letters[0], nil
}

// sealed looks at the stored item itself: nothing in it may show the body.
func (d *demo) sealed(ctx context.Context, deliveryID, body string) error {
	out, err := d.client.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(d.client.Tables["DeadLetters"]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"delivery_id": &types.AttributeValueMemberS{Value: deliveryID}},
	})
	if err != nil {
		return fmt.Errorf("reading the stored dead letter: %w", err)
	}
	stored := flatten(&types.AttributeValueMemberM{Value: out.Item})
	secret := []byte(body[len(`{"type":"user.banned","data":{`):])
	encoded := []byte(base64.StdEncoding.EncodeToString(secret))
	open := bytes.Contains(stored, secret[:40]) || bytes.Contains(stored, encoded[:40]) ||
		bytes.Contains(stored, []byte("Terms of service"))
	d.check(len(out.Item) > 0 && len(stored) > len(body) && !open,
		"the stored item (%d bytes) does not contain the body", len(stored))
	return nil
}

// flatten joins everything an attribute holds.
func flatten(v types.AttributeValue) []byte {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return []byte(v.Value)
	case *types.AttributeValueMemberN:
		return []byte(v.Value)
	case *types.AttributeValueMemberB:
		return v.Value
	case *types.AttributeValueMemberL:
		var all []byte
		for _, item := range v.Value {
			all = append(all, flatten(item)...)
		}
		return all
	case *types.AttributeValueMemberM:
		var all []byte
		for name, item := range v.Value {
			all = append(append(all, name...), flatten(item)...)
		}
		return all
	default:
		return nil
	}
}
