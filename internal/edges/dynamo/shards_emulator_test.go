//go:build emulator

package dynamo_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// partitions counts a table's items by the key of each of its indexes.
func (r rig) partitions(table string) map[string]map[string]int {
	r.t.Helper()
	out, err := r.client.DescribeTable(r.t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		r.t.Fatal(err)
	}
	all, err := r.client.Scan(r.t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		r.t.Fatal(err)
	}
	counts := map[string]map[string]int{}
	for _, index := range out.Table.GlobalSecondaryIndexes {
		hash := *index.KeySchema[0].AttributeName // the first of them (API reference, KeySchema)
		counts[*index.IndexName] = map[string]int{}
		for _, item := range all.Items {
			if key, ok := item[hash].(*types.AttributeValueMemberS); ok {
				counts[*index.IndexName][key.Value]++
			}
		}
	}
	return counts
}

// onePartition are the indexes that a single endpoint or tenant can fill, each partition at 1,000 writes a second:
// ceilings.md has the costs.
var onePartition = map[string]bool{"by-endpoint": true, "by-tenant": true}

// DynamoDB takes 1,000 writes a second to a partition of an index, and refuses writes of the table beyond that.
//
// Threat of a tenant: has others' records throttled by an endpoint that is down. Held by: its open deliveries are in
// eight shards.
func TestIndexes_spreadOneEndpointsTrouble(t *testing.T) {
	const many = 80
	r := newRig(t)
	for n := range many {
		id := fmt.Sprint("msg_", n)
		update(t, r.deliveries, state(id, delivery.Waiting, 0, 1))
		bury(t, r.letters, death(id, "webhook_1", 0, deadAt))
		if n%2 == 0 {
			replay := claim(t, r.letters, id)
			if err := r.letters.EndReplay(t.Context(), id, replay, "replayed", deadAt); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range []string{r.tables.Deliveries, r.tables.DeadLetters} {
		for index, counts := range r.partitions(table) {
			for name, n := range counts {
				if n > many/4 && !onePartition[index] {
					t.Errorf("%s has %d of %d in %s", index, n, many, name)
				}
			}
		}
	}
}

// inShards makes ids of deliveries until each shard has two, and some have more.
func inShards() (ids []string) {
	var counts [backlog.Shards]int
	for n := 0; slices.Min(counts[:]) < 2; n++ {
		id := fmt.Sprint("msg_", n)
		counts[backlog.Shard(id)]++
		ids = append(ids, id)
	}
	return ids
}

// moment is the time of the n-th of some: about three of them share each.
func moment(n int) time.Time { return deadAt.Add(time.Duration(n*7%31/3) * time.Second) }

// An item of a page may be gone when the next one is asked for, as where a job replays it.
func TestIndexes_goOnBehindWhatIsGone(t *testing.T) {
	r := newRig(t)
	ids := inShards()
	for n, id := range ids {
		bury(t, r.letters, death(id, "webhook_1", 0, moment(n)))
	}
	var seen []string
	for page := (dynamo.LetterPage{Limit: 3, OldestFirst: true}); ; {
		records, next, err := r.letters.List(t.Context(), job.Selector{Status: "dead"}, page)
		if err != nil {
			t.Fatal(err)
		}
		for n, one := range records {
			seen = append(seen, one.DeliveryID)
			if n%2 == 0 {
				claim(t, r.letters, one.DeliveryID)
				continue
			}
			if ok, err := r.letters.Purge(t.Context(), getLetter(t, r.letters, one.DeliveryID)); err != nil || !ok {
				t.Fatal(ok, err)
			}
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	slices.Sort(seen)
	if diff := cmp.Diff(slices.Sorted(slices.Values(ids)), seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
