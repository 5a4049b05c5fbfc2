//go:build emulator

package cost

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	alarmdata "github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

var write = flag.Bool("write", false, "write the figures into the page")

const (
	page         = "../../docs/cost.md"
	templateFile = "../../../template.yaml"
	begin        = "<!-- make cost writes from here -->\n"
	end          = "<!-- to here -->\n"
)

// The constants are the highest permitted costs in dollars. The first two are for a month without the dashboard. The
// others are for a million events with everything included: at a million a day with the profile for low traffic, and
// under an even load. EventBridge takes $1.00 for a million events of one's own and $0.20 for as many calls of API
// destinations, and $0.40 more with a queue or a pipe before it.
const (
	mostIdle       = 8.50
	mostBusy       = 12.50
	mostLowTraffic = 4.30
	mostEvenLoad   = 1.82 // at 1,000 a second, with provisioned capacity
	mostVolume     = 1.40 // with the profile for a high volume, if 1 % fail once and the publisher sends each event alone
	mostAlone      = 0.36 // of which the publisher saves this if it sends ten in a request
	mostRetries    = 0.12 // what it may cost more if 10 % fail once
)

// traffic describes the load of one figure.
type traffic struct {
	batch     int
	events    int
	pause     time.Duration // between invocations
	tenants   int           // that the events go round, if more than one
	endpoints int           // of each tenant, if more than one
	failing   int           // events that need a second attempt, spread over all
	setting   string        // a parameter of the template: "RecordAcknowledged=none"
	deaths    bool          // the deliveries die, of ten attempts
	headers   bool          // each endpoint has a header of its owner's
	limit     int           // of each endpoint, in deliveries a second
	trickle   bool          // each message is received alone, although the batch is gathered
	retries   int           // in a batch of RetryQueue, if more than one
	apart     bool          // each retry is received alone, although the batch is gathered
}

const often, seldom = 200 * time.Millisecond, 2 * time.Second

// scenarios are the rows of the last table, each with its largest permitted cost: dollars per million, without the
// publisher's sends and the traffic to receivers.
var scenarios = []struct {
	name string
	most float64
	traffic
}{
	{"one event at a time", 5.30, traffic{batch: 1, events: 10, pause: seldom}},
	{"batches of 2", 2.99, traffic{batch: 2, events: 20, pause: seldom}},
	{"batches of 10", 1.13, traffic{batch: 10, events: 50, pause: often}},
	{"batches of 50", 0.97, traffic{batch: 50, events: 50, pause: often}},
	{"batches of 10, `SuccessLogSample` 100", 1.50,
		traffic{batch: 10, events: 50, pause: often, setting: "SuccessLogSample=100"}},
	{"batches of 10, `RecordAcknowledged` none", 0.46,
		traffic{batch: 10, events: 50, pause: often, setting: "RecordAcknowledged=none"}},
	{"batches of 10, each event of another tenant", 1.52, traffic{batch: 10, events: 50, pause: often, tenants: 10}},
	{"batches of 10, three endpoints for each event", 3.21, traffic{batch: 10, events: 20, pause: often, endpoints: 3}},
	{"batches of 10, 1 % fail once", 1.19, traffic{batch: 10, events: 100, pause: often, failing: 1}},
	{"batches of 10, 10 % fail once", 1.66, traffic{batch: 10, events: 50, pause: often, failing: 5}},
	{"deliveries that die, alone on their endpoints", 72.86, traffic{batch: 1, events: 1, pause: often, deaths: true}},
	{"batches of 10, a header of 30 bytes of its owner's on each endpoint", 1.13,
		traffic{batch: 10, events: 50, pause: often, headers: true}},
	{"batches of 10, a limit of 300 a second on each endpoint", 1.20,
		traffic{batch: 10, events: 50, pause: often, limit: 300}},
	{"batches of 10, of which all but a few exceed their limit", 8.60,
		traffic{batch: 10, events: 50, pause: often, limit: 1}},
	{"deliveries that die, alone on their endpoints, with `Notices`", 77,
		traffic{batch: 1, events: 1, pause: often, deaths: true, setting: "Notices=on"}},
}

// A million deliveries stay within their permitted cost, and the page states the measured cost. With -write, the test
// writes the page.
func TestCost(t *testing.T) {
	b := newBill(t)
	var f figures
	for _, s := range scenarios {
		each := b.million(s.name, s.traffic)
		if d := each.herald(); d > s.most {
			t.Errorf("%s: $%.2f per million, more than %.2f", s.name, d, s.most)
		}
		f.rows = append(f.rows, row{s.name, each})
	}
	f.months = b.months()
	f.volumes = b.volumes(f.months)
	f.saves, f.large = b.saves(f), b.savesAtScale(f)
	f.keys, f.acts = b.keys(), b.acts()
	f.fixed = b.fixed() // the last, since it counts the metrics of all runs
	idle, busy := sums(f.fixed)
	for _, all := range [][]monthly{f.months, f.volumes} {
		for n := range all {
			all[n].fixed += busy.all()
		}
	}
	if idle.plain() > mostIdle || busy.plain() > mostBusy {
		t.Errorf("a month costs $%.2f idle, and $%.2f with traffic, whatever is delivered", idle.plain(), busy.plain())
	}
	for n, most := range map[int]float64{3: mostLowTraffic, 6: mostEvenLoad} {
		if _, d := f.months[n].dollars(); d > most {
			t.Errorf("%s, %s: $%.2f per million", f.months[n].load.name, f.months[n].profile.name, d)
		}
	}
	for _, m := range f.volumes {
		most := mostVolume
		if m.failing > 0.01 {
			most += mostRetries
		}
		if alone, together := m.publishing(); alone > most || together > most-mostAlone {
			t.Errorf("%s, %v fail: $%.3f and $%.3f per million", m.load.name, m.failing, alone, together)
		}
	}
	text := string(must(os.ReadFile(page)))
	head, rest, began := strings.Cut(text, begin)
	_, tail, ended := strings.Cut(rest, end)
	shown := head + begin + "\n" + f.text() + "\n" + end + tail
	switch {
	case t.Failed() || !began || !ended:
		t.Fatal("the figures cannot be compared")
	case *write:
		must(0, os.WriteFile(page, []byte(shown), 0o644))
	case shown != text:
		t.Errorf("the page has other figures: make cost writes these\n%s", f.text())
	}
}

// bill counts the usage of traffic.
type bill struct {
	t       *testing.T
	idle    usage          // of a run of release
	silent  float64        // metrics that it emits
	ours    alarmdata.Data // metrics of all runs
	counted map[traffic]usage
}

func newBill(t *testing.T) *bill {
	t.Helper()
	b, quiet := &bill{t: t, counted: map[traffic]usage{}}, newRig(t, traffic{})
	quiet.tick()
	quiet.read(&b.ours)
	b.idle, b.silent = quiet.usage(), float64(b.ours.Len())
	return b
}

// million takes the traffic through a warm pipeline once, and returns the usage of a million events. It leaves out the
// usage of an idle release.
func (b *bill) million(name string, c traffic) usage {
	if known, ok := b.counted[c]; ok {
		return known
	}
	b.t.Run(name, func(t *testing.T) {
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
			switch {
			case c.deaths:
				times = 10
			case c.failing > 0 && n%(c.events/c.failing) == 0:
				times = 1
			}
			r.publish(n%max(c.tenants, 1), times)
		}
		r.live()
		// release forgets the failures in one run, and the notices to the owner in the next.
		if c.deaths {
			r.now = r.now.Add(49 * time.Hour)
			r.tick()
			r.tick()
		}
		r.read(&b.ours)
		used := r.usage().plus(-1, before)
		used = used.plus(-used[scheduled], b.idle)
		used[published] = float64(c.events)
		b.counted[c] = usage{}.plus(million/float64(c.events), used)
	})
	return b.counted[c]
}

// fixed returns the costs that do not depend on traffic, as counted in the template. Without traffic only release emits
// a metric.
func (b *bill) fixed() []fixed {
	resources := must(cfn.Read(templateFile))
	count := func(kind string) float64 { return float64(len(resources.OfType(kind))) }
	occurs := func(text, kind string) (times float64) { // merged lines, too
		for _, r := range resources.OfType(kind) {
			if r.All["Condition"] == "HasHeartbeat" {
				continue // off by default
			}
			times += float64(strings.Count(fmt.Sprint(r.Properties), text))
		}
		return times
	}
	polls, watched := occurs("Type:SQS", "AWS::Serverless::Function"), occurs("MetricName:", "AWS::CloudWatch::Alarm")
	own := b.keys()
	const runs = month / 60
	same := func(name string, u usage) fixed { return fixed{name, u, u} }
	return []fixed{
		same(fmt.Sprintf("`release` with nothing to do: %d runs", runs), usage{}.plus(runs, b.idle)),
		same(fmt.Sprintf("long polls of %v queue mappings", polls), polled(polls, pollers)),
		same(fmt.Sprintf("alarms on %v metrics", watched), usage{alarms: watched}),
		{
			fmt.Sprintf("custom metrics: %v without traffic, %v in these runs", b.silent, b.ours.Len()),
			usage{metrics: b.silent}, usage{metrics: float64(b.ours.Len())},
		},
		same(fmt.Sprintf("%v KMS keys", own), usage{keys: own}),
		same("the dashboard", usage{dashboards: count("AWS::CloudWatch::Dashboard")}),
	}
}

// polled is the usage of SQS by idle mappings in a month.
func polled(mappings, pollers float64) usage {
	return usage{requests: mappings * pollers * month / pollSeconds}
}

// months are the loads under the profiles, with the difference that a profile makes to the fixed costs.
func (b *bill) months() (all []monthly) {
	usual, low := readProfile(b.t, "default", ""), readProfile(b.t, "`low-traffic`", "low-traffic")
	high := readProfile(b.t, highVolume, "high-volume")
	large := profile{name: "default, batches of 50 and 1 s", batch: 50, window: 1, pollers: usual.pollers}
	even := usual
	even.name, even.setting = "default, `ProvisionedCapacity`", "ProvisionedCapacity=true"
	for _, m := range []monthly{
		{load: loads[0], profile: usual}, {load: loads[0], profile: low}, {load: loads[1], profile: usual},
		{load: loads[1], profile: low}, {load: loads[2], profile: usual}, {load: loads[2], profile: large},
		{load: loads[2], profile: even}, {load: loads[2], profile: high}, {load: loads[3], profile: high},
	} {
		m.failing = 0.1
		m.each, m.fixed = b.million(m.load.name+", "+m.profile.name, m.traffic()), -polled(5, usual.pollers-m.pollers).all()
		if m.setting != "" {
			m.fixed += unused(readScaling()).all()
		}
		all = append(all, m)
	}
	return all
}

// volumes are the loads under the profile for a high volume, the first with fewer failing deliveries, too.
func (b *bill) volumes(months []monthly) (all []monthly) {
	for _, m := range months {
		if m.profile.name != highVolume {
			continue
		}
		if m.load == loads[2] {
			few := m
			few.failing = 0.01
			few.each = b.million(m.load.name+", 1 % fail", few.traffic())
			all = append(all, few)
		}
		all = append(all, m)
	}
	return all
}

// readProfile reads an environment of samconfig.toml, which the template's defaults complete.
func readProfile(t *testing.T, name, environment string) profile {
	t.Helper()
	section := regexp.MustCompile(`(?s)\n\[` + environment + `\.deploy.*?\n\]`).
		FindString(string(must(os.ReadFile("../../../samconfig.toml"))))
	o := functions.Options{Parameters: map[string]string{}}
	for _, set := range regexp.MustCompile(`\n    "(\w+)=(.*?)"`).FindAllStringSubmatch(section, -1) {
		o.Parameters[set[1]] = set[2]
	}
	p := profile{
		name: name, pollers: pollers, batch: number(t, o, "BatchSize"), window: number(t, o, "BatchWindowSeconds"),
	}
	if functions.Value(t, o, "LimitConcurrency") == "false" {
		p.pollers = fewPollers
	}
	if functions.Value(t, o, "ProvisionedCapacity") == "true" {
		p.setting = "ProvisionedCapacity=true"
	}
	return p
}

// traffic is a load as the functions see it: each event of another tenant, some of the deliveries failing once. The
// retries fill batches of their own.
func (m monthly) traffic() traffic {
	again := m.perSecond * m.failing
	batch, retries := m.fill(m.perSecond), m.fill(again)
	c := traffic{batch: batch, events: 10, tenants: max(10, batch), failing: 1, pause: seldom, setting: m.setting}
	if batch > 1 {
		c.events, c.failing, c.trickle = 50, 5, m.window > 0 && m.polling(m.perSecond) < crowded
	}
	if retries > 1 {
		c.failing = retries * int(math.Ceil(max(1, 50*m.failing/float64(retries)))) // whole batches, 50 events or more
		c.events = int(float64(c.failing) / m.failing)
		c.retries, c.apart = retries, m.window > 0 && m.polling(again) < crowded
	}
	if m.perSecond > 100 {
		c.pause = often
	}
	return c
}

// saves compares a million a day with the default and with one parameter changed.
func (b *bill) saves(f figures) []saving {
	const millions = 30
	usual, low := f.months[2], f.months[3]
	unrecorded := usual.traffic()
	unrecorded.setting = "RecordAcknowledged=none"
	lines := f.rows[4].each.all() - f.rows[2].each.all() // SuccessLogSample 100 and 0
	return []saving{
		{
			fmt.Sprintf("`BatchWindowSeconds=%v`, `QueueVisibilitySeconds=%v`", low.window, 180+low.window),
			millions * (usual.each.all() - low.each.all()), "latency, as above; retries come up to as much later",
		},
		{
			"`RecordAcknowledged=none`", millions * (usual.each.all() - b.million(unrecorded.setting, unrecorded).all()),
			"operators do not see what succeeded at once",
		},
		{
			"`LimitConcurrency=false`", usual.fixed - low.fixed,
			"nothing bounds how much of the account's concurrency a burst takes",
		},
		{"`SuccessLogSample=0` for 1", millions * lines / 100, "no line of any success at the first attempt"},
		{"`Dashboard=false`", prices[dashboards].dollars, "no dashboard"},
	}
}

// savesAtScale compares a thousand a second with the default and with one thing changed.
func (b *bill) savesAtScale(f figures) []saving {
	const millions = 1000 * month / million
	usual, _ := f.months[4].dollars()
	large, _ := f.months[5].dollars()
	even, _ := f.months[6].dollars()
	return []saving{
		{"`ProvisionedCapacity=true`", usual - even, "throttling where the load grows at once, as above"},
		{"batches of 50 and 1 s", usual - large, "latency, as above"},
		{
			"a publisher's batches of 10", millions * (publisher(1, false).all() - publisher(sqsBatch, false).all()),
			"events that wait for others at the publisher",
		},
	}
}

// acts are priced at 1,000 deliveries a second.
func (b *bill) acts() (all []act) {
	const perSecond = 1000
	b.t.Run("acts", func(t *testing.T) {
		r := newRig(t, traffic{batch: 10})
		r.subscribe(0, 0)
		for range 10 {
			r.publish(0, 0)
		}
		r.live()
		bytes := r.scanned(perSecond)
		used, least := scan(bytes)
		name := fmt.Sprintf("to erase a tenant at 1,000 deliveries a second, or its dry run: %.0f GB of records are read, "+
			"in %.0f minutes or more", bytes/gigabyte, least.Minutes())
		all = append(all, act{name, used.all()})
	})
	return all
}
