package dynamo

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/job"
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

// A search for few among many ends within its bound, and goes on from there.
func TestDeadLetters_List_endsAtItsBoundOfReads(t *testing.T) {
	table := &endless{}
	letters := NewDeadLetters(dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", HTTPClient: table, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}), "letters")
	page := LetterPage{Limit: 25, OldestFirst: true, Reads: 3}
	found, next, err := letters.List(t.Context(), job.Selector{Status: "dead", Reason: "unreadable"}, page)
	if err != nil || len(found) != 0 || next == "" || table.reads.Load() != 3*backlog.Shards {
		t.Errorf("%d letters after %d reads, next %q: %v", len(found), table.reads.Load(), next, err)
	}
}
