package notice_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/notice"
)

// answers is a client that answers every call alike.
type answers struct {
	out *eventbridge.PutEventsOutput
	err error
}

func (a answers) PutEvents(
	context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options),
) (*eventbridge.PutEventsOutput, error) {
	return a.out, a.err
}

// EventBridge answers 200 to a call of which it has taken nothing.
func TestBus_Put_tellsWhichNoticesWereTaken(t *testing.T) {
	taken := types.PutEventsResultEntry{EventId: aws.String("1")}
	refused := types.PutEventsResultEntry{ErrorCode: aws.String("ThrottlingException")}
	of := func(entries ...types.PutEventsResultEntry) answers {
		return answers{out: &eventbridge.PutEventsOutput{Entries: entries}}
	}
	two := []notice.Notice{{At: time.UnixMilli(1)}, {At: time.UnixMilli(2)}}
	for name, row := range map[string]struct {
		client answers
		want   []bool
	}{
		"all":          {of(taken, taken), []bool{true, true}},
		"one":          {of(refused, taken), []bool{false, true}},
		"no answer":    {of(taken), []bool{true, false}},
		"empty answer": {of(types.PutEventsResultEntry{}, taken), []bool{false, true}},
		"the call":     {answers{err: errors.New("denied")}, []bool{false, false}},
	} {
		var got []bool
		for _, err := range (notice.Bus{Client: row.client, Name: "bus"}).Put(t.Context(), two) {
			got = append(got, err == nil)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: taken (-want +got)\n%s", name, diff)
		}
	}
}
