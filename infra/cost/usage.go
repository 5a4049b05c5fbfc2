package cost

// usage is what was asked of AWS.
type usage struct {
	requests     int // to SQS, as it bills them
	fair         int // those of them that carry messages with a group
	published    int // those of the publisher, not among them
	invocations  int
	gbSeconds    float64
	writes       int
	reads        float64
	kms          int
	logged       int     // bytes
	byteMonths   float64 // stored records
	sent         int     // bytes to receivers
	scheduleRuns int
}

// minus is what u has beyond n times o.
func (u usage) minus(o usage, n int) usage {
	return usage{
		requests: u.requests - n*o.requests, fair: u.fair - n*o.fair, published: u.published - n*o.published,
		invocations: u.invocations - n*o.invocations, gbSeconds: u.gbSeconds - float64(n)*o.gbSeconds,
		writes: u.writes - n*o.writes, reads: u.reads - float64(n)*o.reads, kms: u.kms - n*o.kms,
		logged: u.logged - n*o.logged, byteMonths: u.byteMonths - float64(n)*o.byteMonths, sent: u.sent - n*o.sent,
		scheduleRuns: u.scheduleRuns - n*o.scheduleRuns,
	}
}

// bill is in dollars.
type bill struct {
	sqs, lambda, writes, reads, stored, logs, kms, schedule float64

	publisher, egress float64
}

// herald is the bill without the publisher's sends and the traffic to receivers.
func (b bill) herald() float64 {
	return b.sqs + b.lambda + b.writes + b.reads + b.stored + b.logs + b.kms + b.schedule
}

func (b bill) total() float64 { return b.herald() + b.publisher + b.egress }

// dollars is the bill for times as much as was used.
func (u usage) dollars(times float64) bill {
	return bill{
		sqs:       times * (priceRequest*float64(u.requests) + priceFair*float64(u.fair)),
		lambda:    times * (priceInvocation*float64(u.invocations) + priceGBSecond*u.gbSeconds),
		writes:    times * priceWrite * float64(u.writes),
		reads:     times * priceRead * u.reads,
		stored:    times * priceStored * u.byteMonths,
		logs:      times * priceLogged * float64(u.logged),
		kms:       times * priceKMS * float64(u.kms),
		schedule:  times * priceSchedule * float64(u.scheduleRuns),
		publisher: times * priceRequest * float64(u.published),
		egress:    times * priceSent * float64(u.sent),
	}
}

// times is u, n times.
func (u usage) times(n int) usage { return usage{}.minus(u, -n) }

func (u usage) plus(o usage) usage { return u.minus(o, -1) }
