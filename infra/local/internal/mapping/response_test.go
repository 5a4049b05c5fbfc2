package mapping

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestFailures_followAWS(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, answer string
		failed       []string
		wholeBatch   bool
	}{
		{"an empty answer: all succeeded", ``, nil, false},
		{"null: all succeeded", `null`, nil, false},
		{"an empty object: all succeeded", `{}`, nil, false},
		{"a null list: all succeeded", `{"batchItemFailures":null}`, nil, false},
		{"an empty list: all succeeded", `{"batchItemFailures":[]}`, nil, false},
		{"an id twice counts once", `{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"b"}]}`,
			[]string{"b"}, false},
		{"broken JSON", `{"batchItemFailures":[`, nil, true},
		{"a string", `"ok"`, nil, true},
		{"an empty id", `{"batchItemFailures":[{"itemIdentifier":""}]}`, nil, true},
		{"a number for an id", `{"batchItemFailures":[{"itemIdentifier":1}]}`, nil, true},
		{"a wrong key", `{"batchItemFailures":[{"itemIdentifer":"b"}]}`, nil, true},
		{"an unknown id beside a known one", `{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"z"}]}`,
			nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			failed, err := failures([]byte(row.answer), []types.Message{
				{MessageId: aws.String("a")}, {MessageId: aws.String("b")},
			})
			if (err != nil) != row.wholeBatch {
				t.Fatalf("error %v, want the whole batch to fail: %t", err, row.wholeBatch)
			}
			if got := slices.Sorted(maps.Keys(failed)); !slices.Equal(got, row.failed) {
				t.Errorf("failed %v, want %v", got, row.failed)
			}
		})
	}
}
