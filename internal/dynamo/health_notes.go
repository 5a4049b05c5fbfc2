package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/health"
)

// noteScope is the one partition of all notes.
const noteScope = "slow"

func noteKey(n health.Note) attributes {
	return attributes{"scope": str(noteScope), "name": str(string(n.Queue) + "#" + n.EndpointID + "#" + n.Process)}
}

// PutNote says to every process what the note says. Losing one costs time, never a delivery.
func (h *Health) PutNote(ctx context.Context, n health.Note) error {
	item := noteKey(n)
	item["queue"], item["endpoint_id"], item["process"] = str(string(n.Queue)), str(n.EndpointID), str(n.Process)
	item["until"] = stamp(n.Until)
	_, err := h.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(h.table), Item: item})
	if err != nil {
		return fmt.Errorf("noting a slow endpoint: %w", err)
	}
	return nil
}

// DeleteNote takes the note back, whatever its Until.
func (h *Health) DeleteNote(ctx context.Context, n health.Note) error {
	_, err := h.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(h.table), Key: noteKey(n)})
	if err != nil {
		return fmt.Errorf("removing the note of a slow endpoint: %w", err)
	}
	return nil
}

// Notes returns the notes that are not over, by one Query of one page: some thousands, more than
// there are processes. It is not strongly consistent.
func (h *Health) Notes(ctx context.Context, now time.Time) ([]health.Note, error) {
	return h.notes(ctx, "#until > :time", now)
}

// SweepNotes deletes notes that were over before the time given, which nobody took back because
// their process is gone: at most 25 in a call of this.
func (h *Health) SweepNotes(ctx context.Context, before time.Time) (swept int, err error) {
	notes, err := h.notes(ctx, "#until < :time", before)
	if err != nil {
		return 0, err
	}
	for _, n := range notes[:min(len(notes), maxBatchWrites)] {
		if err := h.DeleteNote(ctx, n); err != nil {
			return swept, err
		}
		swept++
	}
	return swept, nil
}

func (h *Health) notes(ctx context.Context, which string, at time.Time) ([]health.Note, error) {
	out, err := h.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(h.table),
		KeyConditionExpression:    aws.String("#scope = :slow"),
		FilterExpression:          aws.String(which),
		ExpressionAttributeNames:  map[string]string{"#scope": "scope", "#until": "until"},
		ExpressionAttributeValues: attributes{":slow": str(noteScope), ":time": stamp(at)},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the notes of slow endpoints: %w", err)
	}
	var notes []health.Note
	for _, item := range out.Items {
		notes = append(notes, health.Note{
			EndpointID: getStr(item, "endpoint_id"),
			Queue:      health.Queue(getStr(item, "queue")),
			Process:    getStr(item, "process"),
			Until:      getTime(item, "until"),
		})
	}
	return notes, nil
}
