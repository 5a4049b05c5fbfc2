package dynamo

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// endless is a table in which no item of any page is selected.
type endless struct{ reads atomic.Int64 }

func (e *endless) Do(*http.Request) (*http.Response, error) {
	const none = `{"Items":[],
		"LastEvaluatedKey":{"delivery_id":{"S":"msg_1"},"status_shard":{"S":"dead#0"},"died_at":{"S":"1"}}}`
	answer := none
	if e.reads.Add(1) > 100 {
		answer = `{"Items":[]}`
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// lettersOn is the store on a table that answers for DynamoDB.
func lettersOn(table aws.HTTPClient) *DeadLetters {
	return NewDeadLetters(dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", HTTPClient: table, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}), "letters")
}

// A search for few letters among many ends within its bound, and its cursor leads to the rest.
func TestDeadLetters_List_endsAtItsBoundOfReads(t *testing.T) {
	table := &endless{}
	letters := lettersOn(table)
	page := LetterPage{Limit: 25, OldestFirst: true, Reads: 3}
	found, next, err := letters.List(t.Context(), job.Selector{Status: "dead", Reason: "unreadable"}, page)
	if err != nil || len(found) != 0 || next == "" || table.reads.Load() != 3*backlog.Shards {
		t.Errorf("%d letters after %d reads, next %q: %v", len(found), table.reads.Load(), next, err)
	}
}

// full is a table with so many letters in each partition of the index.
type full struct {
	each  int
	reads atomic.Int64
}

func (f *full) Do(r *http.Request) (*http.Response, error) {
	f.reads.Add(1)
	var asked struct {
		Limit int
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		return nil, err
	}
	items, more := make([]string, min(asked.Limit, f.each)), ""
	for n := range items {
		items[n] = fmt.Sprintf(`{"delivery_id":{"S":"msg_%d"},"died_at":{"S":"2026-01-02T03:04:05.678Z"}}`, n)
	}
	if len(items) < f.each {
		more = `,"LastEvaluatedKey":{"delivery_id":{"S":"msg_1"},"status_shard":{"S":"dead#0"},"died_at":{"S":"1"}}`
	}
	answer := `{"Items":[` + strings.Join(items, ",") + `]` + more + `}`
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// What status shows of 10,000 dead letters is read by a call for each partition.
func TestDeadLetters_List_readsTheCausesOfTenThousandByACallForEachPartition(t *testing.T) {
	table := &full{each: 10_000 / backlog.Shards}
	letters := lettersOn(table)
	found, next, err := letters.List(t.Context(), job.Selector{Status: "dead"}, LetterPage{Limit: 20_000, Causes: true})
	if err != nil || len(found) != 10_000 || next != "" || table.reads.Load() != backlog.Shards {
		t.Errorf("%d letters after %d reads, next %q: %v", len(found), table.reads.Load(), next, err)
	}
}
