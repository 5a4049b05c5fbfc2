package dynamo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// backlogRow is an item as it is stored. Endpoint, delivery, created_at and replay are parts of its key and not
// repeated, so that most items fit one write unit.
type backlogRow struct {
	Shard    string `dynamodbav:"endpoint_shard"`
	Position string `dynamodbav:"position"`
	Version  int    `dynamodbav:"version"`
	TenantID string `dynamodbav:"tenant_id"`
	EventID  string `dynamodbav:"event_id"`
	Attempts int    `dynamodbav:"attempts"`
	Life     string `dynamodbav:"life"`

	// Body is binary, since the receiver gets the published data byte for byte.
	Body []byte `dynamodbav:"body"`

	StoredAt   time.Time `dynamodbav:"stored_at"`
	DueAt      time.Time `dynamodbav:"due_at"`
	DueShard   string    `dynamodbav:"due_shard"`
	Held       bool      `dynamodbav:"held"`
	OccurredAt time.Time `dynamodbav:"occurred_at,omitempty"`
	NotBefore  time.Time `dynamodbav:"not_before,omitempty"`
	Trace      string    `dynamodbav:"trace,omitempty"` // as a message has it
}

// shardName is the partition of a shard. of is the name of an endpoint or of a list.
func shardName(of string, shard int) string { return of + "#" + strconv.Itoa(shard) }

// backlogKey is the key of an item: its endpoint's shard, and in it the position, which sorts by the time of creation.
func backlogKey(k backlog.Key) attributes {
	return attributes{"endpoint_shard": str(shardName(k.EndpointID, k.Shard)), "position": str(k.Position)}
}

// backlogKeyOf is the reverse of backlogKey. No endpoint id contains '#'.
func backlogKeyOf(item attributes) backlog.Key {
	endpointID, text, _ := strings.Cut(getStr(item, "endpoint_shard"), "#")
	shard, err := strconv.Atoi(text)
	if err != nil {
		return backlog.Key{}
	}
	return backlog.Key{EndpointID: endpointID, Shard: shard, Position: getStr(item, "position")}
}

// backlogRowOf is the row of an item. Delivery id and created_at are a part of the position, and stand nowhere else.
func backlogRowOf(i backlog.Item) backlogRow {
	return backlogRow{
		Shard: shardName(i.EndpointID, i.Shard), Position: i.Position, Version: backlogVersion,
		TenantID: i.Message.TenantID, EventID: i.Message.EventID,
		Attempts: i.Message.Attempts, Life: i.Message.Life.Encode(), Body: i.Message.Body,
		StoredAt: i.StoredAt, DueAt: i.DueAt, DueShard: strconv.Itoa(i.DueShard()), Held: i.Held,
		OccurredAt: i.Message.OccurredAt, NotBefore: i.NotBefore, Trace: i.Message.Trace.XRay(),
	}
}

var errBacklogVersion = errors.New("of another version")

// backlogItemOf is the reverse of backlogRowOf. A row of another version is unreadable. It stays in the table for a
// release of Herald that can read it.
func backlogItemOf(item attributes) (backlog.Item, error) {
	if v := read[int](item, "version"); v != backlogVersion {
		return backlog.Item{}, fmt.Errorf("item %d: %w", v, errBacklogVersion)
	}
	var row backlogRow
	if err := unmarshal(item, &row); err != nil {
		return backlog.Item{}, err
	}
	ref, err := backlog.Parse(row.Position)
	if err != nil {
		return backlog.Item{}, err
	}
	life, err := delivery.DecodeLife(row.Life)
	if err != nil {
		return backlog.Item{}, err
	}
	key := backlogKeyOf(item)
	ref.TenantID = row.TenantID
	ref.EndpointID = key.EndpointID
	ref.EventID = row.EventID
	ref.OccurredAt = row.OccurredAt
	return backlog.Item{
		Key: key,
		Message: delivery.Message{
			Ref: ref, Attempts: row.Attempts, Life: life, Body: row.Body, Trace: trace.ParseXRay(row.Trace),
		},
		StoredAt: row.StoredAt, DueAt: row.DueAt, Held: row.Held, NotBefore: row.NotBefore,
	}, nil
}
