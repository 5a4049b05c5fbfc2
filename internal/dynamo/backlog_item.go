package dynamo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// backlogVersion is the form of an item. An item of another one is of a later release.
const backlogVersion = 1

// backlogRow does not repeat the key: endpoint, delivery, created_at and replay. Most items then fit one
// write unit.
type backlogRow struct {
	Shard      string    `dynamodbav:"endpoint_shard"`
	Position   string    `dynamodbav:"position"`
	Version    int       `dynamodbav:"version"`
	TenantID   string    `dynamodbav:"tenant_id"`
	EventID    string    `dynamodbav:"event_id"`
	Attempts   int       `dynamodbav:"attempts"`
	Life       string    `dynamodbav:"life"`
	Body       []byte    `dynamodbav:"body"` // binary: byte for byte
	StoredAt   time.Time `dynamodbav:"stored_at"`
	DueAt      time.Time `dynamodbav:"due_at"`
	DueShard   string    `dynamodbav:"due_shard"`
	Held       bool      `dynamodbav:"held"`
	OccurredAt time.Time `dynamodbav:"occurred_at,omitempty"`
	NotBefore  time.Time `dynamodbav:"not_before,omitempty"`
}

func shardName(endpointID string, shard int) string { return endpointID + "#" + strconv.Itoa(shard) }

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

func backlogRowOf(i backlog.Item) backlogRow {
	return backlogRow{
		Shard: shardName(i.EndpointID, i.Shard), Position: i.Position, Version: backlogVersion,
		TenantID: i.Message.TenantID, EventID: i.Message.EventID,
		Attempts: i.Message.Attempts, Life: i.Message.Life.Encode(), Body: i.Message.Body,
		StoredAt: i.StoredAt, DueAt: i.DueAt, DueShard: strconv.Itoa(i.DueShard()), Held: i.Held,
		OccurredAt: i.Message.OccurredAt, NotBefore: i.NotBefore,
	}
}

var errBacklogVersion = errors.New("of another version")

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
	ref.TenantID, ref.EndpointID, ref.EventID, ref.OccurredAt = row.TenantID, key.EndpointID, row.EventID, row.OccurredAt
	return backlog.Item{
		Key:      key,
		Message:  delivery.Message{Ref: ref, Attempts: row.Attempts, Life: life, Body: row.Body},
		StoredAt: row.StoredAt, DueAt: row.DueAt, Held: row.Held, NotBefore: row.NotBefore,
	}, nil
}
