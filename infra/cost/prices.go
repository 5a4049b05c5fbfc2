package cost

// Prices in US dollars, us-east-1, on demand, as of November 2026, free tiers and volume discounts aside.
// They are third parties' quotations; infra/docs/cost.md names where AWS has them.
const (
	million  = 1e6
	gigabyte = 1e9

	priceRequest    = 0.40 / million // SQS, standard queue, each 64 KB
	priceFair       = 0.10 / million // on top where messages have a group
	priceInvocation = 0.20 / million // Lambda
	priceGBSecond   = 0.0000133334   // Lambda, arm64
	priceWrite      = 0.625 / million
	priceRead       = 0.125 / million // strongly consistent
	priceStored     = 0.25 / gigabyte // DynamoDB, a byte for a month
	priceLogged     = 0.50 / gigabyte
	priceKMS        = 0.03 / 10_000
	priceSent       = 0.09 / gigabyte // to the internet

	priceSchedule = 1.00 / million // EventBridge Scheduler
	priceKey      = 1.00           // KMS, a month
	priceAlarm    = 0.10           // for each metric that an alarm looks at, a month
	priceMetric   = 0.30           // custom, a month
)

const (
	sqsBatch = 10       // messages in a request to SQS
	sqsChunk = 64 << 10 // bytes that SQS bills as one request

	month        = 30 * 24 * 3600 // seconds
	itemOverhead = 100            // bytes that DynamoDB adds to each stored item
)

// chunks is what SQS bills for a request that carries so many bytes.
func chunks(bytes int) int { return max((bytes+sqsChunk-1)/sqsChunk, 1) }

// Assumptions about time, which no test can count. An invocation takes a call to AWS after another, what
// the receiver takes, and CPU time: on a whole core so much for itself and for each message, rounded up
// from infra/docs/benchmark.md, and longer the smaller the share of a core that its memory gives it.
const (
	millisCall     = 5.0
	millisReceiver = 80.0
	millisCPU      = 0.5
	millisCPUEach  = 0.05
	coreMB         = 1769.0 // of memory, for a whole core

	framing = 150 // bytes of TLS, TCP and IP for each POST

	pollers     = 5  // of an idle event source mapping
	pollSeconds = 20 // a long poll
)

// worker is a function as far as its time goes.
type worker struct {
	memory float64 // MB
	calls  float64 // to AWS, one after the other
	posts  bool
}

// workers are the functions of template.yaml that deliveries go through.
var workers = map[string]worker{
	"fanout":     {256, 2, false},
	"deliver":    {512, 3, true},
	"deadletter": {256, 4, false},
	"release":    {1024, 4, false},
}

// gbSeconds is what Lambda bills for one invocation with so many messages.
func (w worker) gbSeconds(messages int) float64 {
	millis := w.calls*millisCall + (millisCPU+millisCPUEach*float64(messages))/min(w.memory/coreMB, 1)
	if w.posts {
		millis += millisReceiver
	}
	return w.memory / 1024 * millis / 1000
}
