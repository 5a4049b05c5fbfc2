package cost

import "math"

// load is how many events come, evenly over the day, each for one endpoint. A tenth of the deliveries fail once.
type load struct {
	name      string
	perSecond float64
}

const day = 24 * 3600 // seconds

var loads = []load{
	{"10,000 a day", 10_000.0 / day}, {"1,000,000 a day", million / day}, {"1,000 a second", 1000},
	{"5,000 a second", 5000},
}

// profile decides about batches and polls.
type profile struct {
	name          string
	batch, window float64 // BatchSize, BatchWindowSeconds
	pollers       float64 // of an idle mapping
	setting       string  // a parameter of the template
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
