//go:build emulator

package cost

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	alarmdata "github.com/herald-webhooks/herald/internal/testkit/alarms"
)

// The most that a month may cost, in dollars, the dashboard apart; and a million events at a million a day with the
// profile for low traffic, all included.
const (
	mostIdle       = 8.00
	mostBusy       = 12.00
	mostLowTraffic = 4.00
)

// A million deliveries cost no more than they may, and the page says what they cost. With -write, it is written.
func TestCost(t *testing.T) {
	quiet := newRig(t, traffic{})
	quiet.tick()
	idle, ours := quiet.usage(), &alarmdata.Data{}
	quiet.read(ours)
	silent := float64(ours.Len())
	var f figures
	for _, c := range traffics {
		t.Run(c.name, func(t *testing.T) { f.rows = append(f.rows, c.count(t, idle, ours)) })
	}
	b := bill{t: t, idle: idle, ours: ours, counted: map[traffic]usage{}}
	f.fixed = b.fixed(silent)
	f.months = b.months(f.fixed)
	f.saves = b.saves(f)
	if t.Failed() {
		t.FailNow()
	}
	for n, r := range f.rows {
		if d := r.perMillion().herald(); d > traffics[n].most {
			t.Errorf("%s: $%.2f per million, more than %.2f", r.name, d, traffics[n].most)
		}
	}
	checkFixed(t, f.fixed)
	if _, d := f.months[3].dollars(); d > mostLowTraffic {
		t.Errorf("%s, %s: $%.2f per million", f.months[3].load.name, f.months[3].profile.name, d)
	}
	text := string(must(os.ReadFile(page)))
	switch shown := must(splice(text, f.text())); {
	case *write && !t.Failed():
		must(0, os.WriteFile(page, []byte(shown), 0o644))
	case shown != text:
		t.Errorf("the page has other figures: make cost writes these\n%s", f.text())
	}
}

func checkFixed(t *testing.T, all []fixed) {
	t.Helper()
	unused, used := sums(all)
	apart := unused.dollars(dashboards)
	if d := unused.all() - apart; d > mostIdle {
		t.Errorf("an idle month costs $%.2f", d)
	}
	if d := used.all() - apart; d > mostBusy {
		t.Errorf("a month with traffic costs $%.2f, whatever is delivered", d)
	}
}

// bill counts what loads cost.
type bill struct {
	t       *testing.T
	idle    usage // of a run of release
	ours    *alarmdata.Data
	counted map[traffic]usage // of a million events
}

// fixed is counted in the template. Without traffic only release emits a metric.
func (b bill) fixed(silent float64) []fixed {
	file := must(os.ReadFile(templateFile))
	occurs := func(text string) float64 { return float64(bytes.Count(file, []byte(text))) }
	polls, watched, own := occurs("Type: SQS"), occurs("MetricName:"), occurs("Type: AWS::KMS::Key\n")
	const runs = month / 60
	same := func(name string, u usage) fixed { return fixed{name, u, u} }
	return []fixed{
		same(fmt.Sprintf("`release` with nothing to do: %d runs", runs), usage{}.plus(runs, b.idle)),
		same(fmt.Sprintf("long polls of %v queue mappings", polls), polled(polls, pollers)),
		same(fmt.Sprintf("alarms on %v metrics", watched), usage{alarms: watched}),
		{
			fmt.Sprintf("custom metrics: %v without traffic, %v in these runs", silent, b.ours.Len()),
			usage{metrics: silent}, usage{metrics: float64(b.ours.Len())},
		},
		same(fmt.Sprintf("%v KMS keys", own), usage{keys: own}),
		same("the dashboard", usage{dashboards: occurs("Type: AWS::CloudWatch::Dashboard")}),
	}
}

// polled is what idle mappings ask of SQS in a month.
func polled(mappings, pollers float64) usage {
	return usage{requests: mappings * pollers * month / pollSeconds}
}

// months are the loads under the profiles. For those of samconfig.toml the template's defaults are completed.
func (b bill) months(costs []fixed) (all []monthly) {
	usual := b.profile("default", "")
	low := b.profile("`low-traffic`", "low-traffic")
	large := profile{name: "default, batches of 50 and 1 s", batch: 50, window: 1, pollers: usual.pollers}
	_, busy := sums(costs)
	for _, l := range loads {
		for _, p := range []profile{usual, low, large} {
			if p == large && l.perSecond < 100 || p == low && l.perSecond > 100 {
				continue
			}
			saved := polled(5, usual.pollers-p.pollers)
			all = append(all, monthly{l, p, b.million(b.traffic(l, p)), busy.all() - saved.all()})
		}
	}
	return all
}

// profile reads the numbers of an environment in samconfig.toml.
func (b bill) profile(name, environment string) profile {
	template := string(must(os.ReadFile(templateFile)))
	value := func(parameter, pattern string) string {
		config := regexp.MustCompile(`(?s)\n\[` + environment + `\.deploy.*?\n\]`).FindString(
			string(must(os.ReadFile("../../samconfig.toml"))))
		if found := regexp.MustCompile(`"` + parameter + `=(.*?)"`).FindStringSubmatch(config); found != nil {
			return found[1]
		}
		return regexp.MustCompile(`(?s)\n  ` + parameter + `:\n.*?Default: ` + pattern).FindStringSubmatch(template)[1]
	}
	p := profile{name: name, pollers: pollers}
	p.batch = must(strconv.ParseFloat(value("BatchSize", `(\d+)`), 64))
	p.window = must(strconv.ParseFloat(value("BatchWindowSeconds", `(\d+)`), 64))
	if value("LimitConcurrency", `"(\w+)"`) == "false" {
		p.pollers = fewPollers
	}
	return p
}

// traffic is a load as the functions see it: each event of another tenant, a tenth of the deliveries failing once.
func (b bill) traffic(l load, p profile) traffic {
	batch := p.fill(l.perSecond)
	c := traffic{batch: batch, events: 10, tenants: 10, failing: 1, times: 1, pause: seldom}
	if batch > 1 {
		c.events, c.failing, c.trickle = 50, 5, p.window > 0 && p.polling(l.perSecond) < crowded
	}
	if l.perSecond > 100 {
		c.pause = often
	}
	return c
}

// million is what a million events use. What was counted before is not counted again.
func (b bill) million(c traffic) usage {
	if _, known := b.counted[c]; !known {
		b.t.Run(fmt.Sprintf("batches of %d, trickle %v, records %q", c.batch, c.trickle, c.record), func(t *testing.T) {
			b.counted[c] = c.count(t, b.idle, b.ours).perMillion()
		})
	}
	return b.counted[c]
}

// saves compares a million a day with the default and with one parameter changed.
func (b bill) saves(f figures) []saving {
	const millions = 30
	usual, low := f.months[2], f.months[3]
	unrecorded := b.traffic(usual.load, usual.profile)
	unrecorded.record = "none"
	lines := f.rows[4].perMillion().all() - f.rows[2].perMillion().all() // SuccessLogSample 100 and 0
	return []saving{
		{
			fmt.Sprintf("`BatchWindowSeconds=%v`, `QueueVisibilitySeconds=%v`", low.window, 180+low.window),
			millions * (usual.each.all() - low.each.all()), "latency, as above; retries come up to as much later",
		},
		{
			"`RecordAcknowledged=none`", millions * (usual.each.all() - b.million(unrecorded).all()),
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
