//go:build emulator

package cost

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/emulator"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// BenchmarkAKeyBesideABusyOne reports percentiles of one key's requests, first alone and then together with 1,000
// requests of another key. These come as fast as the API's stage lets both through: at its rate, and after a burst.
// Each request begins when it is due, even if an earlier one is still out. The benchmark shows neither cold starts nor
// AWS's own times. All processes share the cores of this machine, so that a burst waits for itself. DynamoDB Local is
// that of `make second-engine`.
func BenchmarkAKeyBesideABusyOne(b *testing.B) {
	p := newProcesses(b)
	every := time.Duration(float64(time.Second) / number(b, p.options, "ApiRateLimit"))
	quiet, most := pace{250, 0, 4 * every}, int(number(b, p.options, "ApiBurstLimit"))
	p.send(b, pace{most, most, every}) // makes as many processes
	for _, burst := range []int{0, most} {
		b.Run(fmt.Sprint("burst=", burst), func(b *testing.B) {
			busy := pace{1000, burst, every * 4 / 3}
			var alone, beside []time.Duration
			for b.Loop() {
				for range 4 {
					alone = append(alone, p.send(b, quiet)...)
					var other sync.WaitGroup
					other.Go(func() { p.send(b, busy) })
					beside = append(beside, p.send(b, quiet)...)
					other.Wait()
				}
			}
			report(b, alone, beside)
		})
	}
}

func report(b *testing.B, alone, beside []time.Duration) {
	b.Helper()
	slices.Sort(alone)
	slices.Sort(beside)
	for name, percent := range map[string]int{"p50": 50, "p99": 99} {
		was, is := alone[len(alone)*percent/100], beside[len(beside)*percent/100]
		b.ReportMetric(float64(was.Microseconds())/1000, "ms-alone-"+name)
		b.ReportMetric(float64(is.Microseconds())/1000, "ms-beside-"+name)
		b.ReportMetric(float64(is)/float64(was), "x-"+name)
	}
	b.ReportMetric(0, "ns/op")
}

// processes are processes of webhooks. Each answers one request at a time. Their number is the largest number of
// requests that were under way at once.
type processes struct {
	options  functions.Options
	settings webhooks.Settings
	cfg      aws.Config
	keys     *dynamo.APIKeys
	idle     chan lambda.Handler
}

func newProcesses(b *testing.B) *processes {
	b.Helper()
	database := must(emulator.StartDynamoDBLocal(b.Context(), must(tools.Root())))
	b.Cleanup(database.Close)
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(database.URL.String()),
		Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", ""),
	}
	table := testkit.Tables(b, cfg).ApiKeys
	o := functions.Options{
		Resources: map[string]string{"ApiKeys": table}, Parameters: map[string]string{"Stage": "prod"},
	}
	return &processes{
		options: o, settings: functions.Settings[webhooks.Settings](b, o, "webhooks"), cfg: cfg,
		keys: dynamo.NewAPIKeys(dynamodb.NewFromConfig(cfg), table), idle: make(chan lambda.Handler, 2000),
	}
}

// pace is that of the requests of a key: a burst at once, then one after the other.
type pace struct {
	requests, burst int
	every           time.Duration
}

// send makes the requests with a new key and returns how long each took.
func (p *processes) send(b *testing.B, of pace) []time.Duration {
	b.Helper()
	key := newKey(b, p.keys, fmt.Sprint(time.Now().UnixNano()))
	took := make([]time.Duration, of.requests)
	began := time.Now()
	var all sync.WaitGroup
	for i := range of.requests {
		time.Sleep(time.Until(began.Add(time.Duration(max(0, i-of.burst)) * of.every)))
		all.Go(func() {
			one := p.take()
			began := time.Now()
			status, _ := answerOf(b, one, key, "GET", "/v1/webhooks/none", "") // costs one unit and no table but the keys
			took[i] = time.Since(began)
			p.idle <- one
			if status != http.StatusNotFound && status != http.StatusTooManyRequests {
				b.Errorf("answer %d", status)
			}
		})
	}
	all.Wait()
	return took
}

// take is a process that is idle, or a new one.
func (p *processes) take() lambda.Handler {
	select {
	case one := <-p.idle:
		return one
	default:
	}
	config := webhooks.Config{Settings: p.settings, AWS: p.cfg, Log: functions.Log(io.Discard)}
	return must(webhooks.New(config))
}
