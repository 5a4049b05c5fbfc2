package dynamo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// backlogVersion is the form of an item. An item of another one is of a later release.
const backlogVersion = 1

func shardName(endpointID string, shard int) types.AttributeValue {
	return str(endpointID + "#" + strconv.Itoa(shard))
}

func backlogKey(k backlog.Key) attributes {
	return attributes{"endpoint_shard": shardName(k.EndpointID, k.Shard), "position": str(k.Position)}
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

// backlogItem does not repeat what the key says: endpoint, delivery, created_at and replay. Most
// items then fit one write unit.
func backlogItem(i backlog.Item) attributes {
	item := backlogKey(i.Key)
	item["version"] = num(backlogVersion)
	item["tenant_id"] = str(i.Message.TenantID)
	item["event_id"] = str(i.Message.EventID)
	item["attempts"] = num(int64(i.Message.Attempts))
	item["life"] = str(i.Message.Life.Encode())
	item["body"] = bytes(i.Message.Body) // binary: the very bytes, whatever they are
	item["stored_at"] = stamp(i.StoredAt)
	item["due_at"] = stamp(i.DueAt)
	item["due_shard"] = str(strconv.Itoa(i.DueShard()))
	item["held"] = boolean(i.Held)
	if !i.Message.OccurredAt.IsZero() {
		item["occurred_at"] = stamp(i.Message.OccurredAt)
	}
	if !i.Message.NotBefore.IsZero() {
		item["not_before"] = stamp(i.Message.NotBefore)
	}
	return item
}

var errBacklogVersion = errors.New("of another version")

func backlogItemOf(item attributes) (backlog.Item, error) {
	if v := getNum(item, "version"); v != backlogVersion {
		return backlog.Item{}, fmt.Errorf("item %d: %w", v, errBacklogVersion)
	}
	key := backlogKeyOf(item)
	ref, err := backlog.Parse(key.Position)
	if err != nil {
		return backlog.Item{}, err
	}
	life, err := delivery.DecodeLife(getStr(item, "life"))
	if err != nil {
		return backlog.Item{}, err
	}
	ref.TenantID, ref.EndpointID, ref.EventID = getStr(item, "tenant_id"), key.EndpointID, getStr(item, "event_id")
	ref.OccurredAt = getTime(item, "occurred_at")
	return backlog.Item{
		Key: key,
		Message: delivery.Message{
			Ref:       ref,
			Retrying:  true,
			Attempts:  int(getNum(item, "attempts")),
			NotBefore: getTime(item, "not_before"),
			Life:      life,
			Body:      getBytes(item, "body"),
		},
		StoredAt: getTime(item, "stored_at"),
		DueAt:    getTime(item, "due_at"),
		Held:     getBool(item, "held"),
	}, nil
}

// itemSize is at least what DynamoDB counts: names and values in bytes. Items here are flat.
func itemSize(item attributes) int {
	size := 0
	for name, value := range item {
		size += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberB:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += len(v.Value) + 1
		default:
			size++
		}
	}
	return size
}
