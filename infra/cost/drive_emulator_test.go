//go:build emulator

package cost

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// fanOut hands over events as Lambda does that received them from EventsQueue.
func (r *rig) fanOut(events []sqstypes.Message) {
	r.t.Helper()
	for len(events) > 0 {
		n := min(len(events), r.batch)
		if failed := r.invoke(r.fanout, "arn:EventsQueue", events[:n]); len(failed) > 0 {
			r.t.Fatalf("fanout failed:\n%s", r.fanout.log.String())
		}
		events = events[n:]
	}
}

// invoke is one invocation, with what Lambda asks of SQS before and after it.
func (r *rig) invoke(f *function, queueARN string, messages []sqstypes.Message) (failed map[string]bool) {
	records := make([]queue.Record, len(messages))
	for i, m := range messages {
		records[i] = queue.Record{
			MessageID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: []byte(*m.Body), EventSourceARN: queueARN,
			Attributes: queue.System{
				ReceiveCount: m.Attributes["ApproximateReceiveCount"], SentAt: strconv.FormatInt(r.now.UnixMilli(), 10),
			},
		}
		for name, a := range m.MessageAttributes {
			records[i].MessageAttributes.Set(queue.Attribute{Name: name, StringValue: *a.StringValue, DataType: *a.DataType})
		}
	}
	identity := &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
	ctx, cancel := context.WithTimeout(lambdacontext.NewContext(r.t.Context(), identity), 30*time.Second)
	defer cancel()
	failed = map[string]bool{}
	for _, id := range f.process(ctx, records) {
		failed[id] = true
	}
	f.invocations++
	f.requests += receives(records) + (len(records)-len(failed)+sqsBatch-1)/sqsBatch
	f.billed += f.gbSeconds(len(records))
	r.now = r.now.Add(r.took)
	return failed
}

// receives is what SQS bills for the records of one invocation: Lambda receives ten messages at a time.
func receives(records []queue.Record) (requests int) {
	for from := 0; from < len(records); from += sqsBatch {
		bytes := 0
		for _, r := range records[from:min(from+sqsBatch, len(records))] {
			bytes += len(r.Body)
			for _, a := range r.MessageAttributes {
				bytes += len(a.Name) + len(a.DataType) + len(a.StringValue)
			}
		}
		requests += chunks(bytes)
	}
	return requests
}

// pump hands over what is on the queue, batch after batch, and returns how many messages that were.
func (r *rig) pump(f *function, q testkit.Queue) (n int) {
	r.t.Helper()
	var all []sqstypes.Message
	for {
		got := testkit.Receive(r.t, r.cfg, q, 0)
		if all = append(all, got...); len(got) == 0 {
			break
		}
	}
	size := r.batch
	if r.alone && q != r.deliveryQ {
		size = 1
	}
	for part := range slices.Chunk(all, size) {
		r.remove(q, part, r.invoke(f, q.ARN, part))
	}
	return len(all)
}

// remove deletes what has not failed, ten at a time, as Lambda does.
func (r *rig) remove(q testkit.Queue, messages []sqstypes.Message, failed map[string]bool) {
	r.t.Helper()
	var entries []sqstypes.DeleteMessageBatchRequestEntry
	for i, m := range messages {
		if !failed[*m.MessageId] {
			id := strconv.Itoa(i)
			entries = append(entries, sqstypes.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: m.ReceiptHandle})
		}
	}
	for part := range slices.Chunk(entries, sqsBatch) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.URL, Entries: part}
		if out, err := sqs.NewFromConfig(r.cfg).DeleteMessageBatch(r.t.Context(), in); err != nil || len(out.Failed) > 0 {
			r.t.Fatal(err, out)
		}
	}
}

// live moves everything on until it is acknowledged or sealed.
func (r *rig) live() {
	r.t.Helper()
	for range 1000 {
		moved := r.pump(r.deliver, r.deliveryQ) + r.pump(r.deadletter, r.deadQ)
		r.now = r.now.Add(r.wire.waited())
		if moved += r.pump(r.deliver, r.retryQ); moved > 0 {
			continue
		}
		due, any := r.nextDue()
		if !any {
			return
		}
		if due.After(r.now) {
			r.now = due
		}
		r.tick()
	}
	r.t.Fatal("it does not end")
}

// nextDue is when the first item of Backlog is due.
func (r *rig) nextDue() (first time.Time, any bool) {
	if logical(r.meter.Units())["Backlog"] == 0 {
		return first, false
	}
	for shard := range backlog.DueShards {
		due, _, err := r.waiting.Due(r.t.Context(), shard, r.now.Add(retry.MaxLife), 1, "")
		if err != nil {
			r.t.Fatal(err)
		}
		if len(due) > 0 && (!any || due[0].DueAt.Before(first)) {
			first, any = due[0].DueAt, true
		}
	}
	return first, any
}

func (r *rig) tick() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 50*time.Second)
	defer cancel()
	r.runs++
	if err := r.release.Tick(ctx); err != nil {
		r.t.Fatalf("%v\n%s", err, r.ticks.String())
	}
}
