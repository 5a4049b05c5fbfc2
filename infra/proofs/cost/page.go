package cost

import (
	"fmt"
	"strings"
)

// figures are the numbers on the page.
type figures struct {
	months  []monthly
	volumes []monthly // with the profile for a high volume
	saves   []saving
	large   []saving // at 1,000 a second
	fixed   []fixed
	keys    float64 // of KMS
	acts    []act
	rows    []row
}

// monthly is a load under a profile: the usage of a million events, and the month's fixed costs.
type monthly struct {
	load
	profile
	failing float64 // the share of deliveries that fail once
	each    usage
	fixed   float64
}

// dollars is the price of a month, and of a million events, all included.
func (m monthly) dollars() (month30, perMillion float64) {
	millions := m.perSecond * month / million
	month30 = millions*m.each.all() + m.fixed
	return month30, month30 / millions
}

// highVolume is the name of the profile on the page.
const highVolume = "`high-volume`"

// publishing is the price of a million events by requests of the publisher with one event and with ten.
func (m monthly) publishing() (alone, together float64) {
	_, alone = m.dollars()
	return alone, alone - publisher(1, false).all() + publisher(sqsBatch, false).all()
}

// saving is a parameter's saving in a month, and its price.
type saving struct {
	parameter string
	dollars   float64
	price     string
}

// fixed is a month's cost regardless of deliveries: without any traffic, and with some.
type fixed struct {
	name       string
	idle, busy usage
}

func sums(all []fixed) (idle, busy usage) {
	for _, f := range all {
		idle, busy = idle.plus(1, f.idle), busy.plus(1, f.busy)
	}
	return idle, busy
}

// database is what DynamoDB bills.
var database = []kind{writes, reads, provisionedWrites, provisionedReads, byteMonths}

// row is the usage of a million events or deliveries.
type row struct {
	name string
	each usage
}

// text renders the generated part of the page.
func (f figures) text() string {
	var p tables
	p.head("events", "profile", "in a batch", "later by: mean, most", "**$ a month**", "**$ per million**")
	for _, m := range f.months {
		mean, most := m.wait(m.perSecond)
		all, perMillion := m.dollars()
		p.line("%s | %s | %d | %.1f s, %.0f s | **%.0f** | **%.3g**", m.load.name, m.profile.name, m.fill(m.perSecond),
			mean, most, all, perMillion)
	}
	p.volumes(f.volumes)
	p.savings("at 1,000,000 a day", f.saves)
	p.savings("at 1,000 a second", f.large)
	p.head("dollars a month", "idle", "with traffic")
	for _, c := range f.fixed {
		p.line("%s | %.2f | %.2f", c.name, c.idle.all(), c.busy.all())
	}
	idle, busy := sums(f.fixed)
	p.line("**all, the dashboard apart** | **%.2f** | **%.2f**", idle.plain(), busy.plain())
	p.keys(f.keys)
	p.publishers()
	p.acts(f.acts)
	p.head("dollars per million", "SQS", "Lambda", "DynamoDB", "logs, KMS, EventBridge", "**Herald**", "**all**")
	for _, r := range f.rows {
		u := r.each
		p.line("%s | %.2f | %.2f | %.2f | %.2f | **%.2f** | **%.2f**", r.name,
			u.dollars(requests, fair), u.dollars(invocations, gbSeconds), u.dollars(database...),
			u.dollars(logged, keyCalls, told), u.herald(), u.all())
	}
	return p.String()
}

// tables are Markdown's.
type tables struct{ strings.Builder }

// volumes shows what a million events cost by service. What a month costs whatever is delivered stands by itself.
func (t *tables) volumes(all []monthly) {
	t.head("with "+highVolume+", dollars per million", "fail once", "SQS", "Lambda", "DynamoDB", "logs, KMS, EventBridge",
		"receivers' bytes", "a month's fixed costs", "**all, with 0.40 for single sends**",
		"**all, with 0.04 for sends of ten**")
	for _, m := range all {
		alone, together := m.publishing()
		u := m.each
		t.line("%s | %.0f %% | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | **%.2f** | **%.2f**", m.load.name, 100*m.failing,
			u.dollars(requests, fair), u.dollars(invocations, gbSeconds), u.dollars(database...),
			u.dollars(logged, keyCalls, told), u.dollars(sent), alone-u.all(), alone, together)
	}
}

func (t *tables) savings(load string, all []saving) {
	t.head(load, "saves, dollars a month", "at the price of")
	for _, s := range all {
		t.line("%s | %.2f | %s", s.parameter, s.dollars, s.price)
	}
}

func (t *tables) keys(count float64) {
	t.head("dollars a month", "first year", "second", "from the third")
	t.line("%v KMS keys, rotated once a year | %.2f | %.2f | %.2f", count, rotated(count, 0), rotated(count, 1),
		rotated(count, 2))
}

func (t *tables) publishers() {
	t.head("a publisher's million events, dollars", "one in a request", "in batches of 10")
	for _, row := range []struct {
		name  string
		group bool
	}{{"without a group", false}, {"`MessageGroupId`, with Lambda's receives and deletes of its messages", true}} {
		t.line("%s | %.2f | %.2f", row.name, publisher(1, row.group).all(), publisher(sqsBatch, row.group).all())
	}
}

func (t *tables) acts(all []act) {
	t.head("an act", "dollars")
	for _, a := range all {
		t.line("%s | %.2f", a.name, a.dollars)
	}
}

func (t *tables) head(columns ...string) {
	if t.Len() > 0 {
		fmt.Fprintln(t)
	}
	t.line("%s", strings.Join(columns, " | "))
	fmt.Fprintf(t, "|%s\n", strings.Repeat("---|", len(columns)))
}

func (t *tables) line(format string, cells ...any) { fmt.Fprintf(t, "| "+format+" |\n", cells...) }
