// Package cost counts Herald's use of AWS.
//
// Its test drives the real handlers fanout, deliver, release and deadletter over the wire against the
// emulator, with the settings of template.yaml, and counts units, requests and bytes. Lambda's own calls to
// SQS are modelled, and the time of an invocation is assumed. It fails where a million deliveries cost more
// than they may; "make cost" writes the figures into infra/docs/cost.md. The simulation has its deliveries priced here,
// too.
package cost

// kind is something that AWS bills.
type kind int

const (
	requests  kind = iota // to SQS, of 64 KB
	fair                  // the ones that carry messages with a group
	published             // requests of the publisher, not among them
	invocations
	gbSeconds
	writes
	reads
	provisionedWrites // units of tables with provisioned capacity
	provisionedReads
	byteMonths // stored records
	logged     // bytes
	keyCalls   // to KMS
	told       // notices on an event bus
	scheduled  // runs
	sent       // bytes to receivers
	alarms     // metrics that alarms look at, for a month
	metrics    // custom ones, for a month
	keys       // of KMS, for a month
	dashboards // for a month
	idleWrites // a unit of provisioned capacity for an hour
	idleReads
	kinds
)

// usage is how much of each kind was used.
type usage [kinds]float64

// plus is u and n times o.
func (u usage) plus(n float64, o usage) usage {
	for k := range u {
		u[k] += n * o[k]
	}
	return u
}

const (
	million  = 1e6
	gigabyte = 1e9

	sqsBatch     = 10             // messages in a request to SQS
	month        = 30 * 24 * 3600 // seconds
	itemOverhead = 100            // bytes that DynamoDB adds to each stored item
	framing      = 150            // bytes of TLS, TCP and IP of each POST
	pollers      = 5              // of an idle queue mapping with MaximumConcurrency
	fewPollers   = 2              // of one without
	pollSeconds  = 20             // of a long poll
)

// Provisioned capacity: the price of a unit for an hour, and the share of it that scaling keeps in use.
const (
	dollarsWriteHour = 0.00065
	dollarsReadHour  = 0.00013
	target           = 0.70
	hour             = 3600 // seconds
)

// price is in US dollars, us-east-1, on demand, as of November 2026, free tiers and volume discounts aside.
type price struct{ dollars, per float64 }

var prices = [kinds]price{
	requests:          {0.40, million}, // of 64 KB, to a standard queue
	fair:              {0.10, million}, // on top
	published:         {0.40, million},
	invocations:       {0.20, million}, // arm64
	gbSeconds:         {13.3334, million},
	writes:            {0.625, million}, // on demand
	reads:             {0.125, million},
	provisionedWrites: {dollarsWriteHour, hour * target}, // under an even load
	provisionedReads:  {dollarsReadHour, hour * target},
	byteMonths:        {0.25, gigabyte},
	logged:            {0.50, gigabyte},
	keyCalls:          {0.03, 10_000},
	told:              {1, million},
	scheduled:         {1, million},
	sent:              {0.09, gigabyte},
	alarms:            {0.10, 1},
	metrics:           {0.30, 1},
	keys:              {1, 1},
	dashboards:        {3, 1}, // beyond three
	idleWrites:        {dollarsWriteHour, 1},
	idleReads:         {dollarsReadHour, 1},
}

// dollars is the price of some kinds of usage.
func (u usage) dollars(of ...kind) (sum float64) {
	for _, k := range of {
		sum += u[k] * prices[k].dollars / prices[k].per
	}
	return sum
}

// herald is the price of everything but the publisher's sends and the traffic to receivers.
func (u usage) herald() float64 { return u.all() - u.dollars(published, sent) }

// plain is the price of everything but the dashboard.
func (u usage) plain() float64 { return u.all() - u.dollars(dashboards) }

func (u usage) all() (sum float64) {
	for k := range kinds {
		sum += u.dollars(k)
	}
	return sum
}

// The constants are assumptions about time, since no test can count it. An invocation makes one call to AWS after
// another, and waits for the receiver. It takes CPU time for itself and for each message. These times are for a whole
// core, rounded up from what infra/proofs/bench measures. They grow where a function's memory gives it less than that.
const (
	millisCall     = 5.0
	millisReceiver = 80.0
	millisCPU      = 0.5
	millisCPUEach  = 0.05
	coreMB         = 1769.0 // of memory, for a whole core
)

// callsInARow are the calls to AWS that one invocation makes one after the other.
var callsInARow = map[string]float64{"fanout": 2, "deliver": 3, "deadletter": 4, "release": 4}

// billed is the GB-seconds of an invocation with so many messages.
func billed(function string, memory float64, messages int) float64 {
	cpu := (millisCPU + millisCPUEach*float64(messages)) / min(memory/coreMB, 1)
	millis := callsInARow[function]*millisCall + cpu
	if function == "deliver" {
		millis += millisReceiver
	}
	return memory / 1024 * millis / 1000
}
