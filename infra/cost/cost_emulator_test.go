//go:build emulator

package cost

import (
	"context"
	"flag"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
	alarmdata "github.com/herald-webhooks/herald/internal/testkit/alarms"
)

var write = flag.Bool("write", false, "write the figures into the page")

const (
	page         = "../docs/cost.md"
	templateFile = "../../template.yaml"
)

// traffic is what one row of the tables counts.
type traffic struct {
	name      string
	most      float64 // dollars per million, without the publisher's sends and the traffic to receivers
	batch     int
	events    int
	tenants   int // that the events go round, if more than one
	endpoints int // of each tenant, if more than one
	failing   int // events whose deliveries fail, spread over all
	times     int // so often
	pause     time.Duration
	sample    string // SuccessLogSample, if not 0
	record    string // RecordAcknowledged, if not the default
	deaths    bool   // the deliveries die
	headers   bool   // each endpoint has a header of its owner's
	notices   string // Notices, if not off
	trickle   bool   // each message is received alone, although the batch is gathered
}

const often, seldom = 200 * time.Millisecond, 2 * time.Second // between invocations

var traffics = []traffic{
	{name: "one event at a time", most: 5.30, batch: 1, events: 10, pause: seldom},
	{name: "batches of 2", most: 2.99, batch: 2, events: 20, pause: seldom},
	{name: "batches of 10", most: 1.13, batch: 10, events: 50, pause: often},
	{name: "batches of 50", most: 0.97, batch: 50, events: 50, pause: often},
	{name: "batches of 10, `SuccessLogSample` 100", most: 1.50, batch: 10, events: 50, pause: often, sample: "100"},
	{name: "batches of 10, `RecordAcknowledged` none", most: 0.46, batch: 10, events: 50, pause: often, record: "none"},
	{name: "batches of 10, each event of another tenant", most: 1.52, batch: 10, events: 50, pause: often, tenants: 10},
	{name: "batches of 10, three endpoints for each event", most: 3.21, batch: 10, events: 20, pause: often, endpoints: 3},
	{name: "batches of 10, 1 % fail once", most: 1.19, batch: 10, events: 100, pause: often, failing: 1, times: 1},
	{name: "batches of 10, 10 % fail once", most: 1.66, batch: 10, events: 50, pause: often, failing: 5, times: 1},
	{name: "deliveries that die, alone on their endpoints", most: 72.86, batch: 1, events: 1, pause: often,
		failing: 1, times: 10, deaths: true},
	{name: "batches of 10, a header of 30 bytes of its owner's on each endpoint", most: 1.13, batch: 10, events: 50,
		pause: often, headers: true},
	{name: "deliveries that die, alone on their endpoints, with `Notices`", most: 77, batch: 1, events: 1, pause: often,
		failing: 1, times: 10, deaths: true, notices: "on"},
}

// count takes the traffic through a warm pipeline. What release uses anyway is not among what it used.
func (c traffic) count(t *testing.T, idle usage, ours *alarmdata.Data) row {
	t.Helper()
	r := newRig(t, c)
	for tenant := range max(c.tenants, 1) {
		for n := range max(c.endpoints, 1) {
			r.subscribe(tenant, n)
		}
		r.publish(tenant, 0)
	}
	r.live()
	r.now = r.now.Add(2 * time.Second)
	before := r.usage()
	for n := range c.events {
		times := 0
		if c.failing > 0 && n%(c.events/c.failing) == 0 {
			times = c.times
		}
		r.publish(n%max(c.tenants, 1), times)
	}
	r.live()
	if c.deaths { // release forgets the failures
		r.now = r.now.Add(49 * time.Hour)
		r.tick()
	}
	if c.notices != "" { // and what it has told the owner
		r.tick()
	}
	r.read(ours)
	used := r.usage().plus(-1, before)
	used = used.plus(-used[scheduled], idle)
	used[published] = float64(c.events)
	return row{c.name, float64(c.events), used}
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
func (r *rig) read(into *alarmdata.Data) {
	if err := into.ReadEMF(strings.NewReader(r.logs())); err != nil {
		r.t.Error(err)
	}
}

// usage is what was used so far.
func (r *rig) usage() usage {
	r.t.Helper()
	used := r.lambda
	used[requests], used[fair] = used[requests]+r.queues.requests, used[fair]+r.queues.requests
	used[told] = r.queues.notices
	used[keyCalls], used[logged], used[sent] = r.queues.keys, float64(len(r.logs())), float64(r.receiver.sent)
	for _, units := range r.meter.Units() {
		used[writes] += float64(units)
	}
	for _, units := range r.meter.Reads() {
		used[reads] += units
	}
	used[byteMonths] = r.stored()
	return used
}

// stored is what the records of deliveries take, in bytes times the months until they expire.
func (r *rig) stored() (byteMonths float64) {
	r.t.Helper()
	in := &dynamodb.ScanInput{TableName: aws.String(r.resources["Deliveries"])}
	for _, item := range must(dynamodb.NewFromConfig(r.cfg).Scan(r.t.Context(), in)).Items {
		expires := must(strconv.ParseFloat(item["expires_at"].(*types.AttributeValueMemberN).Value, 64))
		life := expires - float64(r.now.Unix())
		byteMonths += float64(itemOverhead+testkit.ItemSize(item)) * life / month
	}
	return byteMonths
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
		if due.After(r.now) {
			r.now = due
		}
		r.tick()
	}
	r.t.Fatal("it does not end")
}

// nextDue is when the first item of Backlog is due.
func (r *rig) nextDue() (first time.Time, any bool) {
	waiting := dynamo.NewBacklog(dynamodb.NewFromConfig(r.cfg), r.resources["Backlog"])
	for shard := range backlog.DueShards {
		due, _, err := waiting.Due(r.t.Context(), shard, r.now.Add(7*24*time.Hour), 1, "")
		if err != nil {
			r.t.Fatal(err)
		}
		if len(due) > 0 && (!any || due[0].DueAt.Before(first)) {
			first, any = due[0].DueAt, true
		}
	}
	return first, any
}

// tick is a run of release.
func (r *rig) tick() {
	r.t.Helper()
	r.invoke("release", 0, func(ctx context.Context) {
		if err := r.functions.Release(ctx); err != nil {
			r.t.Fatal(err)
		}
	})
	r.lambda[scheduled]++
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
