package cost

import (
	"fmt"
	"math"
	"strings"
)

// load is how many events come, evenly over the day, each for one endpoint. A tenth of the deliveries fail once.
type load struct {
	name      string
	perSecond float64
}

const day = 24 * 3600 // seconds

var loads = []load{{"10,000 a day", 10_000.0 / day}, {"1,000,000 a day", million / day}, {"1,000 a second", 1000}}

// profile decides about batches and polls.
type profile struct {
	name          string
	batch, window float64 // BatchSize, BatchWindowSeconds
	pollers       float64 // of an idle mapping
}

// The time from a receive to the next, without a window, and the messages that arrive so fast that a receive
// brings more than one.
const (
	cycle   = 0.1
	crowded = 50.0 // a second, for each poller
)

// polling is the messages for each poller in a second. Lambda begins with five and adds more while messages wait,
// until all of them are taken in full batches.
func (p profile) polling(perSecond float64) float64 {
	return perSecond / max(pollers, math.Ceil(perSecond*cycle/p.batch))
}

// fill is the number of messages in a batch.
func (p profile) fill(perSecond float64) int {
	return int(math.Round(min(p.batch, max(1, p.polling(perSecond)*(p.window+cycle)))))
}

// wait is the delay by the windows of EventsQueue and DeliveryQueue, in seconds: on average, and at most.
func (p profile) wait(perSecond float64) (mean, most float64) {
	gathered := p.window
	if n := p.fill(perSecond); n > 1 {
		gathered = min(p.window, float64(n-1)/p.polling(perSecond)) / 2
	}
	return 2 * gathered, 2 * p.window
}

// monthly is a load under a profile: the usage of a million events, and the month's fixed costs.
type monthly struct {
	load
	profile
	each  usage
	fixed float64
}

// dollars is the price of a month, and of a million events, all included.
func (m monthly) dollars() (month30, perMillion float64) {
	millions := m.perSecond * month / million
	month30 = millions*m.each.all() + m.fixed
	return month30, month30 / millions
}

func people(months []monthly) string {
	var b strings.Builder
	b.WriteString("| events | profile | in a batch | later by: mean, most | **$ a month** | **$ per million** |\n" +
		"|---|---|---|---|---|---|\n")
	for _, m := range months {
		mean, most := m.wait(m.perSecond)
		all, perMillion := m.dollars()
		fmt.Fprintf(&b, "| %s | %s | %d | %.1f s, %.0f s | **%.0f** | **%.3g** |\n", m.load.name, m.profile.name,
			m.fill(m.perSecond), mean, most, all, perMillion)
	}
	return b.String()
}

// saving is a parameter's saving in a month, and its price.
type saving struct {
	parameter string
	dollars   float64
	price     string
}

func savings(all []saving) string {
	var b strings.Builder
	b.WriteString("| at 1,000,000 a day | saves, dollars a month | at the price of |\n|---|---|---|\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %.2f | %s |\n", s.parameter, s.dollars, s.price)
	}
	return b.String()
}
