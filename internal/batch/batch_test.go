package batch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/queue"
)

func TestAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		failed Failures
		want   string
	}{
		"nothing failed is an empty list, never null": {nil, `{"batchItemFailures":[]}`},
		"failures are named":                          {Failures{"a", "b"}, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := Handler(func(context.Context, []queue.Record) Failures { return row.failed })
			got, err := h.Invoke(t.Context(), []byte(`{"Records":[]}`))
			if err != nil || string(got) != row.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	if _, err := Handler(nil).Invoke(t.Context(), []byte(`{"Records":`)); err == nil {
		t.Error("half an event is processed")
	}
}

func TestRecordsArriveWhole(t *testing.T) {
	payload := `{"Records":[{"messageId":"m","receiptHandle":"r","body":"{}","attributes":{"ApproximateReceiveCount":"3"},` +
		`"messageAttributes":{"version":{"stringValue":"1","dataType":"String","stringListValues":[],"binaryListValues":[]}},` +
		`"md5OfBody":"x","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"eu-central-1"}]}`
	var got []queue.Record
	h := Handler(func(_ context.Context, records []queue.Record) Failures { got = records; return nil })
	if _, err := h.Invoke(t.Context(), []byte(payload)); err != nil {
		t.Fatal(err)
	}
	r := got[0]
	if r.MessageID != "m" || r.ReceiptHandle != "r" || r.Body != "{}" || r.EventSourceARN != "arn" ||
		r.Attributes.ReceiveCount != "3" || r.MessageAttributes["version"].StringValue != "1" {
		t.Errorf("%+v", r)
	}
}

func TestEachIsolatesPanicsAndBoundsConcurrency(t *testing.T) {
	var running, most atomic.Int32
	fault := errors.New("fault")
	errs := Each(20, 4, func(i int) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		time.Sleep(time.Millisecond)
		switch i {
		case 3:
			panic("boom")
		case 5:
			return fault
		}
		return nil
	})
	var panicked *Panic
	for i, err := range errs {
		switch {
		case i == 3 && (!errors.As(err, &panicked) || panicked.Value != "boom" || len(panicked.Stack) == 0):
			t.Errorf("panic became %v", err)
		case i == 5 && !errors.Is(err, fault), i != 3 && i != 5 && err != nil:
			t.Errorf("record %d: %v", i, err)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d at once, want at most 4", most.Load())
	}
}

func TestDeadlineKeepsAReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ctx, cancel := Deadline(parent, 2*time.Second)
		defer cancel()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		if ctx.Err() == nil || parent.Err() != nil {
			t.Errorf("after 8 s: work %v, invocation %v", ctx.Err(), parent.Err())
		}
	})
}
