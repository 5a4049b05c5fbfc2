//go:build emulator

package cost

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/herald-webhooks/herald/infra/pipeline"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

type message = events.SQSMessage

// queues stand in for SQS, and count the calls to it and to KMS. Nobody waits for a message: the rig's clock
// moves instead.
type queues struct {
	mu             sync.Mutex
	waiting        map[string][]message // by URL
	requests, keys float64
	notices        float64
	longest        time.Duration // wait since it was last asked for
}

// config returns the configuration of clients whose calls to SQS end here. Others take the time that they
// take: an answer that nobody waits for would not be counted.
func (q *queues) config(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	handle := func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		if out.Result = q.answer(in.Parameters); out.Result != nil {
			return out, metadata, nil
		}
		return next.HandleInitialize(context.WithoutCancel(ctx), in)
	}
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Queues", handle), middleware.Before)
	})
	return cfg
}

// answer is that of SQS, nil for calls to other services.
func (q *queues) answer(parameters any) any {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch in := parameters.(type) {
	case *sqs.SendMessageBatchInput:
		q.requests++
		out := &sqs.SendMessageBatchOutput{}
		for _, entry := range in.Entries {
			q.wait(entry.DelaySeconds)
			m := message{Body: *entry.MessageBody, MessageAttributes: sqsevent.Attributes(entry.MessageAttributes)}
			q.waiting[*in.QueueUrl] = append(q.waiting[*in.QueueUrl], m)
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: entry.Id})
		}
		return out
	case *sqs.ChangeMessageVisibilityBatchInput:
		q.requests++
		out := &sqs.ChangeMessageVisibilityBatchOutput{}
		for _, entry := range in.Entries {
			q.wait(entry.VisibilityTimeout)
			out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: entry.Id})
		}
		return out
	case *eventbridge.PutEventsInput:
		q.notices += float64(len(in.Entries))
		out := &eventbridge.PutEventsOutput{}
		for range in.Entries {
			out.Entries = append(out.Entries, bustypes.PutEventsResultEntry{EventId: aws.String("1")})
		}
		return out
	case *kms.DecryptInput, *kms.EncryptInput, *kms.GenerateDataKeyInput:
		q.keys++
	}
	return nil
}

func (q *queues) wait(seconds int32) { q.longest = max(q.longest, time.Duration(seconds)*time.Second) }

// receive returns all messages of a queue.
func (q *queues) receive(name string) []message {
	all := q.waiting[pipeline.QueueURL(name)]
	delete(q.waiting, pipeline.QueueURL(name))
	return all
}

// drain hands over what is on the queues and returns how many messages that were.
func (r *rig) drain() (moved int) {
	for _, queue := range []string{"EventsQueue", "DeliveryQueue", "DeadLetterQueue", "RetryQueue", "SlowQueue"} {
		size := r.batch
		if queue != "EventsQueue" && queue != "DeliveryQueue" {
			size = 1 // retries and dead letters come alone: the worst case
		}
		r.now, r.queues.longest = r.now.Add(r.queues.longest), 0
		for part := range slices.Chunk(r.queues.receive(queue), size) {
			r.handOver(queue, part)
			moved += len(part)
		}
	}
	return moved
}

func batches(messages int) float64 { return math.Ceil(float64(messages) / sqsBatch) }

// handOver is one invocation, with Lambda's calls to SQS before and after it. A failed message is received again.
func (r *rig) handOver(queue string, messages []message) {
	for n := range messages {
		m := &messages[n]
		m.EventSourceARN = pipeline.QueueURL(queue + ".Arn")
		m.MessageId, m.ReceiptHandle = fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", n), strconv.Itoa(n)
		received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		m.Attributes = sqsevent.System(r.now, received+1)
	}
	name, process := r.consumer(queue)
	var failed []string
	r.invoke(name, len(messages), func(ctx context.Context) { failed = process(ctx, messages) })
	url := pipeline.QueueURL(queue)
	for _, m := range messages {
		if slices.Contains(failed, m.MessageId) {
			r.queues.waiting[url] = append(r.queues.waiting[url], m)
		}
	}
	calls := batches(len(messages)) + batches(len(messages)-len(failed)) // to receive, to delete
	if r.trickle {
		calls += float64(len(messages)) - batches(len(messages))
	}
	r.lambda[requests] += calls
	if queue != "EventsQueue" {
		r.lambda[fair] += calls
	}
	r.now = r.now.Add(r.pause)
}

// invoke is one invocation of a function with so many messages.
func (r *rig) invoke(name string, messages int, function func(context.Context)) {
	identity := &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
	ctx, cancel := context.WithTimeout(lambdacontext.NewContext(r.t.Context(), identity), time.Minute)
	defer cancel()
	function(ctx)
	r.lambda[invocations]++
	r.lambda[gbSeconds] += billed(name, r.functions.Memory[name], messages)
}

// publish puts an event on EventsQueue, for deliveries that fail so often.
func (r *rig) publish(tenant, failing int) {
	const bodySize = 500 // of a POST
	r.published++
	payload := fmt.Sprintf(`"type":"user.updated","data":{"userId":"user_2c9WZ1","fail":%d,"note":"`, failing)
	fill := strings.Repeat("x", bodySize-len(`{`)-len(payload)-len(`"}}`))
	url := pipeline.QueueURL("EventsQueue")
	r.queues.waiting[url] = append(r.queues.waiting[url], message{Body: fmt.Sprintf(
		`{"id":"evt_01JD00000000000000%06d","tenant_id":"%s","occurred_at":"%s",%s%s"}}`,
		r.published, tenantID(tenant), r.now.Format(time.RFC3339), payload, fill)})
}

// receiver answers 503 to the first attempts of a delivery, as many as its body says, always after the
// same time, so that log lines are as long in every run.
type receiver struct {
	mu   sync.Mutex
	seen map[string]int // attempts by wh-id
	sent int            // bytes
}

var failing = regexp.MustCompile(`"fail":(\d+)`)

// Post is delivery.Poster's.
func (r *receiver) Post(_ context.Context, q delivery.Request) delivery.Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := ""
	const head = "POST /hook HTTP/1.1\r\nHost: receiver.example.com\r\nContent-Length: 500\r\n\r\n"
	r.sent += framing + len(head) + len(q.Body)
	for _, field := range q.Header {
		r.sent += len(field.Name) + len(": \r\n") + len(field.Value)
		if strings.EqualFold(field.Name, "wh-id") {
			id = field.Value
		}
	}
	times, _ := strconv.Atoi(failing.FindStringSubmatch(string(q.Body))[1])
	out := delivery.Response{Status: http.StatusNoContent, Elapsed: 80_123 * time.Microsecond}
	if r.seen[id]++; r.seen[id] <= times {
		out.Status, out.Reason = http.StatusServiceUnavailable, delivery.ReasonHTTP5xx
	}
	return out
}
