package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/story"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// places is how many attempts the stack's schedule has.
const places = 6

// doom publishes an event to a receiver that stays down. Its delivery dies during the next scene.
func (d *demo) doom(ctx context.Context) error {
	var err error
	eventType := examples.Choose("user.banned")[0]
	d.doomed.scene, err = d.open(ctx, "outage", eventType)
	if err != nil {
		return err
	}
	d.doomed.inbox.Fail(slices.Repeat([]int{500}, 100)...)
	d.doomed.message, d.doomed.at, err = d.doomed.publish(ctx, eventType)
	return err
}

func (d *demo) death(ctx context.Context) error {
	heading("A receiver that stays down: dead, sealed, inspected, replayed, acknowledged")
	s, message := d.doomed.scene, d.doomed.message
	letter, err := s.Death(ctx, patience, message)
	if err != nil {
		return err
	}
	attempts := s.inbox.Requests()
	header()
	for i := range attempts {
		row(attempts, i, d.doomed.at)
	}
	d.check(letter.Attempts == places && letter.Reason == delivery.ReasonHTTP5xx && letter.LastStatus == 500,
		"dead after %d attempts, reason %s, last status %d", letter.Attempts, letter.Reason, letter.LastStatus)
	if err := d.sealed(ctx, letter.DeliveryID, message); err != nil {
		return err
	}
	d.check(letter.Headers["wh-id"] == letter.DeliveryID && len(letter.History) == 1,
		"inspect opens it: the %d bytes that were published, the headers and one death", len(letter.Body))

	s.inbox.Fail()
	attempts, err = s.Replay(ctx, letter)
	if err != nil {
		return err
	}
	last := len(attempts) - 1
	header()
	row(attempts, last, d.doomed.at)
	same, _ := story.Compare(attempts)
	d.check(same && attempts[last].Standard == nil, "replayed with the same wh-id and verified")
	state, err := d.acknowledged(ctx, letter.DeliveryID)
	d.check(err == nil, "the operator sees: %s", state.State)
	return nil
}

// sealed looks at the stored item itself: nothing in it may show the body.
func (d *demo) sealed(ctx context.Context, deliveryID string, m examples.Message) error {
	out, err := d.client.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(d.client.Tables["DeadLetters"]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"delivery_id": &types.AttributeValueMemberS{Value: deliveryID}},
	})
	var item map[string]any
	if err == nil {
		err = attributevalue.UnmarshalMap(out.Item, &item)
	}
	if err != nil {
		return fmt.Errorf("reading the stored dead letter: %w", err)
	}
	stored := fmt.Sprintf("%s", item) // bytes as text
	data := strings.TrimPrefix(string(m.Data), "{")
	encoded := base64.StdEncoding.EncodeToString([]byte(data))
	open := strings.Contains(stored, beginning(data)) || strings.Contains(stored, beginning(encoded)) ||
		strings.Contains(stored, "Terms of service") // of the sample of user.banned
	d.check(len(stored) > len(m.Payload()) && !open, "the stored item (%d bytes) does not contain the body", len(stored))
	return nil
}

// beginning is as much of a text as no other text begins with by chance.
func beginning(text string) string { return text[:min(len(text), 40)] }
