//go:build emulator

package cost

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var write = flag.Bool("write", false, "write the figures into the page")

const page = "../docs/cost.md"

// traffic is what one row of the table counts.
type traffic struct {
	name      string
	batch     int
	events    int
	tenants   int // that the events go round
	endpoints int // of each tenant
	failing   int // events whose deliveries fail, spread over all
	times     int // so often
	sample    telemetry.Sample
	record    string // RecordAcknowledged, if not all
	seldom    bool   // invocations are seconds apart
	deaths    bool   // the row is about deliveries that die
}

var traffics = []traffic{
	{name: "one event at a time", batch: 1, events: 10, tenants: 1, endpoints: 1, seldom: true},
	{name: "batches of 2", batch: 2, events: 20, tenants: 1, endpoints: 1, seldom: true},
	{name: full, batch: 10, events: 50, tenants: 1, endpoints: 1},
	{name: "batches of 50", batch: 50, events: 50, tenants: 1, endpoints: 1},
	{name: every, batch: 10, events: 50, tenants: 1, endpoints: 1, sample: telemetry.Everything},
	{name: "batches of 10, `RecordAcknowledged` none", batch: 10, events: 50, tenants: 1, endpoints: 1, record: "none"},
	{name: "batches of 10, each event of another tenant", batch: 10, events: 50, tenants: 10, endpoints: 1},
	{name: "batches of 10, three endpoints for each event", batch: 10, events: 20, tenants: 1, endpoints: 3},
	{name: tenth, batch: 10, events: 50, tenants: 1, endpoints: 1, failing: 5, times: 1},
	{name: "deliveries that die, alone on their endpoints", batch: 1, events: 1, tenants: 1, endpoints: 1, failing: 1,
		times: 10, deaths: true},
}

// counted is count of a run in which nothing was given up for lack of time, as handlers do where the
// emulator takes a quarter of a second for a hint, or two for a record.
func (c traffic) counted(t *testing.T, idle usage) (row, map[string]bool) {
	t.Helper()
	for range 5 {
		r := c.run(t)
		if line := lost.FindString(r.logs()); line != "" {
			t.Logf("counting again: %s", line)
			continue
		}
		return c.count(r, idle), r.metrics()
	}
	t.Fatal("the emulator is too slow to count anything")
	return row{}, nil
}

var lost = regexp.MustCompile(`"message":"[^"]* not (written|read|noted|removed)".*|"message":"metrics lost".*`)

// run takes the traffic through a pipeline that is warm.
func (c traffic) run(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, options{batch: c.batch, sample: c.sample, record: c.record})
	r.alone = true
	var warm, events []sqstypes.Message
	for tenant := range c.tenants {
		for n := range c.endpoints {
			r.subscribe(tenant, n)
		}
		warm = append(warm, r.event(tenant, 0))
	}
	r.fanOut(warm)
	r.live()
	r.now = r.now.Add(2 * time.Second)
	if c.seldom {
		r.took = 2 * time.Second
	}
	r.before = r.usage()
	for n := range c.events {
		times := 0
		if c.failing > 0 && n%(c.events/c.failing) == 0 {
			times = c.times
		}
		events = append(events, r.event(n%c.tenants, times))
	}
	r.fanOut(events)
	r.live()
	if c.deaths {
		r.now = r.now.Add(health.Default().Forget)
		r.tick()
	}
	return r
}

// count is what the traffic used, but for what release uses anyway.
func (c traffic) count(r *rig, idle usage) row {
	used := r.usage().minus(r.before, 1).minus(idle, r.runs)
	used.published = c.events
	return row{c.name, c.events, used}
}

var timestamp = regexp.MustCompile(`"timestamp":"[^"]*"`)

// logs are those of all functions, with times of the same length in every run.
func (r *rig) logs() string {
	var all strings.Builder
	for _, log := range []*bytes.Buffer{&r.fanout.log, &r.deliver.log, &r.deadletter.log, &r.ticks} {
		all.WriteString(timestamp.ReplaceAllString(log.String(), `"timestamp":"2026-05-01T12:00:00.123Z"`))
	}
	return all.String()
}

// usage is what was used so far.
func (r *rig) usage() usage {
	r.t.Helper()
	queues, keys := r.wire.requests()
	of := r.fanout.requests
	used := usage{requests: queues + of, fair: queues, kms: keys, logged: len(r.logs()), scheduleRuns: r.runs}
	for _, f := range []*function{r.deliver, r.deadletter} {
		used.requests, used.fair = used.requests+f.requests, used.fair+f.requests
	}
	for _, f := range []*function{r.fanout, r.deliver, r.deadletter} {
		used.invocations, used.gbSeconds = used.invocations+f.invocations, used.gbSeconds+f.billed
	}
	used.invocations += r.runs
	used.gbSeconds += float64(r.runs) * workers["release"].gbSeconds(0)
	for _, units := range r.meter.Units() {
		used.writes += units
	}
	for _, units := range r.meter.Reads() {
		used.reads += units
	}
	for _, got := range r.receiver.Requests() {
		used.sent += framing + len("POST /hook HTTP/1.1\r\nHost: receiver.example.com\r\n\r\n") + len(got.Body)
		for name, values := range got.Header {
			used.sent += len(name) + len(": \r\n") + len(values[0])
		}
	}
	used.byteMonths = r.stored()
	return used
}

// stored is what the records of deliveries take, in bytes times the months until they expire.
func (r *rig) stored() (byteMonths float64) {
	r.t.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(r.cfg), &dynamodb.ScanInput{TableName: &r.names.Deliveries})
	for pages.HasMorePages() {
		out, err := pages.NextPage(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, item := range out.Items {
			var expires int64
			number := item["expires_at"].(*dynamotypes.AttributeValueMemberN).Value
			if err := json.Unmarshal([]byte(number), &expires); err != nil {
				r.t.Fatal(err)
			}
			changed, err := time.Parse(time.RFC3339, item["changed_at"].(*dynamotypes.AttributeValueMemberS).Value)
			if err != nil {
				r.t.Fatal(err)
			}
			life := time.Unix(expires, 0).Sub(changed).Seconds()
			byteMonths += float64(itemOverhead+testkit.ItemSize(item)) * life / month
		}
	}
	return byteMonths
}

// metrics are the names of the custom metrics in the logs, each with its dimensions.
func (r *rig) metrics() map[string]bool {
	r.t.Helper()
	found := map[string]bool{}
	for line := range strings.Lines(r.logs()) {
		var doc struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Dimensions [][]string
					Metrics    []struct{ Name string }
				}
			} `json:"_aws"`
			Members map[string]any `json:",embed"`
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			r.t.Fatalf("%v in %s", err, line)
		}
		for _, about := range doc.AWS.CloudWatchMetrics {
			for _, metric := range about.Metrics {
				name := metric.Name
				for _, dimension := range about.Dimensions[0] {
					name += "," + dimension + "=" + doc.Members[dimension].(string)
				}
				found[name] = true
			}
		}
	}
	return found
}

// idleTick is what a run of release uses that finds nothing to do.
func idleTick(t *testing.T) (usage, map[string]bool) {
	t.Helper()
	r := newRig(t, options{batch: 10})
	r.tick()
	return r.usage(), r.metrics()
}

// The page shows what is counted here; -write writes it there.
func TestThePageShowsWhatIsCounted(t *testing.T) {
	idle, names := idleTick(t)
	var rows []row
	for _, c := range traffics {
		t.Run(c.name, func(t *testing.T) {
			counted, metrics := c.counted(t, idle)
			rows = append(rows, counted)
			maps.Copy(names, metrics)
		})
	}
	if t.Failed() || len(rows) != len(traffics) {
		t.Fatalf("%d of %d rows are counted: nothing is compared or written", len(rows), len(traffics))
	}
	rows = withHundredth(withSample(rows))
	for _, r := range rows {
		if d := r.perMillion().herald(); r.name == full && d > 1.25 {
			t.Errorf("%s: $%.2f per million", r.name, d)
		}
	}
	f := ofTemplate(t)
	f.idle, f.names = idle.times(month/60), len(names)
	if month := f.idle.dollars(1).herald(); month > 0.50 {
		t.Errorf("release with nothing to do costs $%.2f a month", month)
	}
	text := strings.Join([]string{table(rows), counts(rows), f.lines(), assumptions(), prices()}, "\n")
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := splice(string(got), text)
	if err != nil {
		t.Fatal(err)
	}
	if *write && t.Failed() {
		t.Fatal("nothing is written: what was counted is not what it should be")
	}
	if *write {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if lines := differences(string(got), want); len(lines) > 0 {
		t.Errorf("%s is not what was counted: make cost writes it\n%s", page, strings.Join(lines, "\n"))
	}
}
