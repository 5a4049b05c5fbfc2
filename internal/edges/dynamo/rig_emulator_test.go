//go:build emulator

package dynamo_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

type item = map[string]types.AttributeValue

// rig is the stores on tables of one test, behind faults of their calls.
type rig struct {
	t          *testing.T
	faults     *testkit.Faults
	tables     testkit.TableNames
	client     *dynamodb.Client // past the faults
	faulty     *dynamodb.Client
	keys       *dynamo.APIKeys
	endpoints  *dynamo.Endpoints
	circuits   *dynamo.Circuits
	backlog    *dynamo.Backlog
	deliveries *dynamo.Deliveries
	letters    *dynamo.DeadLetters
	jobs       *dynamo.Jobs
}

func newRig(t *testing.T) rig {
	t.Helper()
	cfg := testkit.Moto(t)
	faults, tables := testkit.NewFaults(cfg), testkit.Tables(t, cfg)
	client := dynamodb.NewFromConfig(faults.Config(), func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	})
	return rig{
		t: t, faults: faults, tables: tables, client: dynamodb.NewFromConfig(cfg), faulty: client,
		keys:       dynamo.NewAPIKeys(client, tables.ApiKeys),
		endpoints:  dynamo.NewEndpoints(client, tables.Endpoints).KeepDeleted(30 * 24 * time.Hour),
		circuits:   dynamo.NewCircuits(client, tables.EndpointHealth),
		backlog:    dynamo.NewBacklog(client, tables.Backlog),
		deliveries: dynamo.NewDeliveries(client, tables.Deliveries),
		letters:    dynamo.NewDeadLetters(client, tables.DeadLetters).KeepDead(90 * 24 * time.Hour),
		jobs:       dynamo.NewJobs(client, tables.Jobs),
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// keyOf is a key of these names and values in turn.
func keyOf(pairs ...string) item {
	key := item{}
	for pair := range slices.Chunk(pairs, 2) {
		key[pair[0]] = text(pair[1])
	}
	return key
}

// stored is an item as the table has it.
func (r rig) stored(table string, key item) item {
	r.t.Helper()
	out, err := r.client.GetItem(r.t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Item
}

// put stores an item past the stores.
func (r rig) put(table string, item item) {
	r.t.Helper()
	if _, err := r.client.PutItem(r.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		r.t.Fatal(err)
	}
}

// breaks gives an attribute of an item a value that cannot be read.
func (r rig) breaks(table, attribute string, key item) {
	r.t.Helper()
	if _, err := r.client.UpdateItem(r.t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: key, UpdateExpression: aws.String("SET #broken = :broken"),
		ExpressionAttributeNames:  map[string]string{"#broken": attribute},
		ExpressionAttributeValues: item{":broken": text("broken")},
	}); err != nil {
		r.t.Fatal(err)
	}
}

// loseAnswers loses the answer to every first try of a call.
func (r rig) loseAnswers() {
	try := func(n string) func(testkit.Call) bool {
		return func(c testkit.Call) bool { return strings.HasPrefix(c.Header.Get("Amz-Sdk-Request"), "attempt="+n) }
	}
	r.faults.Add(testkit.Rule{When: try("1;"), Fault: testkit.DropAnswer()})
	r.t.Cleanup(func() {
		if !slices.ContainsFunc(r.faults.Calls(""), try("2;")) {
			r.t.Error("no answer was lost")
		}
	})
}

func (r rig) wantConsistentReads() {
	r.t.Helper()
	for _, c := range r.faults.Calls("") {
		read := slices.Contains([]string{"Query", "Scan", "BatchGetItem", "GetItem"}, c.Action)
		if read && !bytes.Contains(c.Body, []byte(`"ConsistentRead":true`)) {
			r.t.Errorf("%s is not strongly consistent: %s", c.Action, c.Body)
		}
	}
}

// pages reads a list page by page.
func pages[T any](t *testing.T, limit int, read func(cursor string) (page []T, next string, err error)) (all []T) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := read(cursor)
		if err != nil || len(page) > limit {
			t.Fatalf("a page of %d, %v", len(page), err)
		}
		all, cursor = append(all, page...), next
	}
	return all
}
