//go:build emulator

package cost

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	alarmdata "github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// rig is the pipeline, with its own tables and keys. Its clock stands still until the rig moves it.
type rig struct {
	traffic
	t         *testing.T
	cfg       aws.Config // of the emulator, past the counters
	options   functions.Options
	functions functions.Functions
	mappings  []mapping
	now       time.Time
	output    bytes.Buffer
	published int
	crowd     int  // so many transactions meet another one
	raced     int  // so many writes of one item find it changed
	refusals  bool // writes may be refused

	provisioned map[string]bool // tables, by name

	mu      sync.Mutex
	used    usage                // without logs and stored records
	waiting map[string][]message // in queues, by URL
	longest time.Duration        // wait that a message was given since the clock has moved
	seen    map[string]int       // attempts, by wh-id
}

type message = events.SQSMessage

// mapping is a function's of a queue.
type mapping struct {
	queue, function string
	process         func(context.Context, []message) (failed []string)
	batch           int
	apart           bool // each message of a batch is received alone
}

func newRig(t *testing.T, c traffic) *rig {
	t.Helper()
	cfg := testkit.DynamoDBLocal(t)
	r := &rig{
		traffic: c, t: t, cfg: cfg, now: time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC),
		waiting: map[string][]message{}, seen: map[string]int{}, provisioned: map[string]bool{},
		refusals: c.limit > 0, // of slots and leases
	}
	counted := r.counted(cfg.Copy())
	parameters := map[string]string{"Stage": "prod", "SuccessLogSample": "0"}
	if name, value, set := strings.Cut(c.setting, "="); set {
		parameters[name] = value
	}
	r.options = functions.Options{
		Resources: functions.Resources(t, cfg), Receivers: r, Parameters: parameters,
		AWS: func(string) aws.Config { return counted },
		Now: func() time.Time { return r.now }, Output: func(string) io.Writer { return &r.output },
	}
	if parameters["ProvisionedCapacity"] == "true" {
		for _, s := range readScaling() {
			r.provisioned[r.options.Resources[s.table]] = true
		}
	}
	f := functions.OnAWS(t, r.options)
	r.functions = f
	r.mappings = []mapping{ // retries, unless the traffic says otherwise, and dead letters come alone: the worst case
		{"EventsQueue", "fanout", f.Fanout, c.batch, c.trickle},
		{"DeliveryQueue", "deliver", f.Deliver, c.batch, c.trickle},
		{"DeadLetterQueue", "deadletter", f.Deadletter, 1, false},
		{"RetryQueue", "deliver", f.Deliver, max(c.retries, 1), c.apart},
		{"SlowQueue", "deliver", f.Deliver, 1, false},
	}
	return r
}

func tenantID(n int) string { return fmt.Sprintf("tenant_01JD00000000000000%06d", n) }

// subscribe gives the tenant an endpoint.
func (r *rig) subscribe(tenant, n int) {
	e := endpoint.Endpoint{
		ID: fmt.Sprintf("webhook_01JD%06d0000000000%06d", tenant, n), TenantID: tenantID(tenant),
		URL: "https://receiver.example.com/hook", Description: "Synchronises accounts",
		Events: []string{"user.*", "organization.*"}, CreatedAt: r.now, UpdatedAt: r.now, SecretRotatedAt: r.now,
	}
	e.RateLimit = r.limit
	if r.headers {
		headers := []endpoint.Header{{Name: "Authorization", Value: "Bearer 0123456"}}
		e.HeaderNames, e.HeadersVersion = []string{headers[0].Name}, 1
		secrets := keyring.NewSecrets(kms.NewFromConfig(r.cfg), r.options.Resources["SecretsKey.Arn"])
		e.SealedHeaders = must(secrets.Seal(r.t.Context(), keyring.HeadersOf(e), endpoint.EncodeHeaders(headers)))
	}
	functions.Subscribe(r.t, r.cfg, r.options.Resources, e)
}

// publish puts an event on EventsQueue, for deliveries that fail so often.
func (r *rig) publish(tenant, failing int) {
	const bodySize = 500 // of a POST
	r.published++
	payload := fmt.Sprintf(`"type":"user.updated","data":{"userId":"user_2c9WZ1","fail":%d,"note":"`, failing)
	fill := strings.Repeat("x", bodySize-len(`{`)-len(payload)-len(`"}}`))
	url := functions.QueueURL("EventsQueue")
	r.waiting[url] = append(r.waiting[url], message{Body: fmt.Sprintf(
		`{"id":"evt_01JD00000000000000%06d","tenant_id":"%s","occurred_at":"%s",%s%s"}}`,
		r.published, tenantID(tenant), r.now.Format(time.RFC3339), payload, fill)})
}

var failing = regexp.MustCompile(`"fail":(\d+)`)

// Post answers 503 to the first attempts of a delivery, as many as its body says, always after the
// same time, so that log lines are as long in every run.
func (r *rig) Post(_ context.Context, q delivery.Request) delivery.Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	const head = "POST /hook HTTP/1.1\r\nHost: receiver.example.com\r\nContent-Length: 500\r\n\r\n"
	bytes, id := framing+len(head)+len(q.Body), ""
	for _, field := range q.Header {
		bytes += len(field.Name) + len(": \r\n") + len(field.Value)
		if strings.EqualFold(field.Name, "wh-id") {
			id = field.Value
		}
	}
	r.used[sent] += float64(bytes)
	times := must(strconv.Atoi(failing.FindStringSubmatch(string(q.Body))[1]))
	out := delivery.Response{Status: http.StatusNoContent, Elapsed: 80_123 * time.Microsecond}
	if r.seen[id]++; r.seen[id] <= times {
		out.Status, out.Reason = http.StatusServiceUnavailable, delivery.ReasonHTTP5xx
	}
	return out
}

// live moves everything on until it is acknowledged or sealed.
func (r *rig) live() {
	r.t.Helper()
	for range 1000 {
		if r.drain() > 0 {
			continue
		}
		due, any := r.nextDue()
		if !any {
			return
		}
		if r.limit > 0 {
			due = r.now.Add(time.Minute) // release sends at the pace of the limit
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
	waiting := dynamo.NewBacklog(dynamodb.NewFromConfig(r.cfg), r.options.Resources["Backlog"])
	for shard := range backlog.DueShards {
		due, _, err := waiting.Due(r.t.Context(), shard, r.now.Add(7*24*time.Hour), 1, "")
		must(0, err)
		if len(due) > 0 && (!any || due[0].DueAt.Before(first)) {
			first, any = due[0].DueAt, true
		}
	}
	return first, any
}

// drain hands the messages of all queues to their functions, and returns the number of messages.
func (r *rig) drain() (moved int) {
	for _, m := range r.mappings {
		if r.limit == 0 { // otherwise each message comes in its slot
			r.now = r.now.Add(r.longest)
		}
		r.longest = 0
		url := functions.QueueURL(m.queue)
		messages := r.waiting[url]
		delete(r.waiting, url)
		for part := range slices.Chunk(messages, m.batch) {
			r.handOver(m, part)
		}
		moved += len(messages)
	}
	return moved
}

func batches(messages int) float64 { return math.Ceil(float64(messages) / sqsBatch) }

// handOver is one invocation, with Lambda's calls to SQS before and after it. A failed message is received again.
func (r *rig) handOver(by mapping, messages []message) {
	for n := range messages {
		m := &messages[n]
		m.EventSourceARN = functions.QueueURL(by.queue + ".Arn")
		m.MessageId, m.ReceiptHandle = fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", n), strconv.Itoa(n)
		received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
		m.Attributes = sqsevent.System(r.now, received+1)
	}
	var failed []string
	r.invoke(by.function, len(messages), func(ctx context.Context) { failed = by.process(ctx, messages) })
	url := functions.QueueURL(by.queue)
	for _, m := range messages {
		if slices.Contains(failed, m.MessageId) {
			r.waiting[url] = append(r.waiting[url], m)
		}
	}
	calls := batches(len(messages)) + batches(len(messages)-len(failed)) // to receive, to delete
	if by.apart {
		calls += float64(len(messages)) - batches(len(messages))
	}
	r.used[requests] += calls
	if by.queue != "EventsQueue" {
		r.used[fair] += calls
	}
	r.now = r.now.Add(r.pause)
}

// tick is a run of release.
func (r *rig) tick() {
	r.t.Helper()
	r.invoke("release", 0, func(ctx context.Context) { must(0, r.functions.Release(ctx)) })
	r.used[scheduled]++
}

// invoke is one invocation of a function with so many messages.
func (r *rig) invoke(name string, messages int, function func(context.Context)) {
	identity := &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
	ctx, cancel := context.WithTimeout(lambdacontext.NewContext(r.t.Context(), identity), time.Minute)
	defer cancel()
	function(ctx)
	r.used[invocations]++
	r.used[gbSeconds] += billed(name, r.functions.Memory[name], messages)
}

var (
	timestamp = regexp.MustCompile(`"timestamp":"[^"]*"`)
	lost      = regexp.MustCompile(`"message":"[^"]* not (written|read|noted|removed)".*|"message":"metrics lost".*`)
)

// logs are those of all functions, with times of the same length in every run.
func (r *rig) logs() string {
	r.t.Helper()
	all := timestamp.ReplaceAllString(r.output.String(), `"timestamp":"2026-05-01T12:00:00.123Z"`)
	if line := lost.FindString(all); line != "" {
		r.t.Errorf("the emulator was too slow to count this: %s", line)
	}
	return all
}

// read adds the metrics in the logs.
func (r *rig) read(into *alarmdata.Data) { must(0, into.ReadEMF(strings.NewReader(r.logs()))) }

// usage is the usage so far. Records of deliveries count in bytes times the months until they expire.
func (r *rig) usage() usage {
	r.t.Helper()
	used := r.used
	used[logged] = float64(len(r.logs()))
	in := &dynamodb.ScanInput{TableName: aws.String(r.options.Resources["Deliveries"])}
	for _, item := range must(dynamodb.NewFromConfig(r.cfg).Scan(r.t.Context(), in)).Items {
		used[byteMonths] += float64(itemOverhead+size(item)) * r.life(item) / month
	}
	return used
}

// scanned is the size of the records of deliveries in bytes, at so many new deliveries a second. Each record stays
// until it expires.
func (r *rig) scanned(perSecond float64) (bytes float64) {
	in := &dynamodb.ScanInput{TableName: aws.String(r.options.Resources["Deliveries"])}
	all := must(dynamodb.NewFromConfig(r.cfg).Scan(r.t.Context(), in)).Items
	for _, item := range all {
		bytes += float64(size(item)) * r.life(item) * perSecond / float64(len(all))
	}
	return bytes
}

// life is how many seconds a record has left.
func (r *rig) life(item attributes) float64 {
	expires := must(strconv.ParseFloat(item["expires_at"].(*types.AttributeValueMemberN).Value, 64))
	return expires - float64(r.now.Unix())
}

// number is a parameter's value.
func number(t testing.TB, o functions.Options, parameter string) float64 {
	t.Helper()
	return must(strconv.ParseFloat(functions.Value(t, o, parameter), 64))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
