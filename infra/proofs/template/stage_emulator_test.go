//go:build emulator

package template

import (
	"bytes"
	"context"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// stage is Herald on the emulator, with the functions as the template sets them up. Its clock is moved by the test, and
// its client of AWS can fail the functions' calls. It gathers the functions' output, and keeps the books from which AWS
// makes its own metrics.
type stage struct {
	t         *testing.T
	tpl       template
	options   functions.Options
	cfg       aws.Config // of the emulator, past the faults
	sqs       *sqs.Client
	tables    *dynamodb.Client
	faults    *testkit.Faults
	resources map[string]string // by the names of the template's environments
	logical   *strings.Replacer // of their names, to logical ids
	queues    map[string]testkit.Queue
	now       time.Time
	output    bytes.Buffer // logs and metrics of all functions
	ran       bytes.Buffer // those of release's last run
	ranAt     time.Time
	data      alarms.Data
	down      map[string]bool // endpoints that answer 503
	bad       atomic.Int32    // POSTs to webhook_bad
	counter   int
	bus       string  // for notices, if there is one
	rejected  float64 // messages on EventsDeadLetterQueue, which has no consumer

	unconsumed  map[string]int     // messages of queues without a running consumer
	inFlight    map[string]float64 // messages that the last batches returned to their queue
	deleted     map[string]float64 // within the minute
	invocations map[string]float64 // within the minute, by function
}

// tenants are those of the stage's endpoints. webhook_off is paused.
var tenants = map[string]string{
	"webhook_good": "acme", "webhook_bad": "other", "webhook_off": "paused", "webhook_slow": "slow",
}

func newStage(t *testing.T) *stage {
	t.Helper()
	cfg := testkit.Moto(t)
	s := &stage{
		t: t, tpl: load(t), cfg: cfg, sqs: sqs.NewFromConfig(cfg), tables: dynamodb.NewFromConfig(cfg),
		faults: testkit.NewFaults(cfg), resources: functions.Resources(t, cfg), queues: map[string]testkit.Queue{},
		now: start, down: map[string]bool{}, unconsumed: map[string]int{},
		inFlight: map[string]float64{}, deleted: map[string]float64{}, invocations: map[string]float64{},
	}
	for id := range s.tpl.OfType("AWS::SQS::Queue") {
		q := testkit.NewQueue(t, cfg, id)
		s.queues[id], s.resources[id], s.resources[id+".Arn"] = q, q.URL, q.ARN
	}
	s.resources["ReplayFunction"] = "stage-replay"
	var names []string
	for id, name := range s.resources {
		names = append(names, name, strings.TrimSuffix(id, ".Arn"))
	}
	s.logical = strings.NewReplacer(names...)
	for id, tenant := range tenants {
		functions.Subscribe(t, cfg, s.resources, endpoint.Endpoint{
			ID: id, TenantID: tenant, URL: "https://receiver.example/" + id, Events: []string{"*"},
			CreatedAt: s.now, UpdatedAt: s.now,
		})
	}
	s.options = functions.Options{
		Parameters: configurations(t, s.tpl)["default"], Resources: s.resources, Receivers: s,
		AWS: s.aws, Now: func() time.Time { return s.now }, Output: s.outputOf,
	}
	_, _, err := dynamo.NewEndpoints(s.tables, s.resources["Endpoints"]).Mark(
		t.Context(), dynamo.EndpointKey{TenantID: "paused", EndpointID: "webhook_off"},
		func(m *endpoint.Marks) bool { return m.Pause(s.now, "ann", "") },
	)
	s.must(err)
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// publishKeys switches on public keys, and everything else that receivers may get.
func (s *stage) publishKeys() {
	s.options.Parameters = maps.Clone(s.options.Parameters)
	s.options.Parameters["AsymmetricSignatures"] = "on"
	s.options.Parameters["ForwardTrace"] = "on"
}

// tellOwners switches notices on, with the contacts of owners.
func (s *stage) tellOwners() {
	s.t.Helper()
	name := s.queues["EventsQueue"].Name + "-notices" // a name of the stage's own
	_, err := eventbridge.NewFromConfig(s.cfg).CreateEventBus(s.t.Context(), &eventbridge.CreateEventBusInput{Name: &name})
	s.must(err)
	s.options.Parameters = maps.Clone(s.options.Parameters)
	s.options.Parameters["Notices"], s.options.Parameters["NoticesContact"] = "on", "on"
	s.options.Parameters["AWS::StackName"] = strings.TrimSuffix(name, "-notices")
	s.bus = name
}

// Post answers as the receivers do. webhook_bad takes every third POST, so that its circuit does not
// open.
func (s *stage) Post(_ context.Context, r delivery.Request) delivery.Response {
	id := r.URL[strings.LastIndexByte(r.URL, '/')+1:]
	if s.down[id] || id == "webhook_bad" && s.bad.Add(1)%3 != 0 {
		return delivery.Response{Status: 503, Reason: delivery.StatusReason(503), Elapsed: time.Millisecond}
	}
	return delivery.Response{Status: 204, Elapsed: time.Millisecond}
}

// aws is a function's configuration. Its calls name the function, and are tried as often as in production, but without
// waits.
func (s *stage) aws(function string) aws.Config {
	cfg := s.faults.Config()
	cfg.AppID = function
	cfg.Retryer = func() aws.Retryer {
		return awsretry.NewStandard(func(o *awsretry.StandardOptions) {
			o.Backoff = awsretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = unlimited{}
		})
	}
	return cfg
}

// unlimited is the retries' rate limiter switched off: every process of production has a new one.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (unlimited) AddTokens(uint) error { return nil }

func (s *stage) outputOf(function string) io.Writer {
	if function == "release" {
		return &s.ran
	}
	return &s.output
}

func (s *stage) start() functions.Functions {
	s.t.Helper()
	return functions.OnAWS(s.t, s.options)
}
