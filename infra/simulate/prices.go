package main

import "time"

// calls is what deliver and release asked of AWS; fan-out's part is the same under all rules.
type calls struct {
	sqs         int           // requests
	invocations int           // of deliver
	busy        time.Duration // of deliver, all invocations together
	reads       int           // strongly consistent, 4 KB each
	halfReads   int           // eventually consistent
	writes      int           // of 1 KB
	released    int           // messages sent by release
	ticks       int           // invocations of release
	other       int           // requests to DynamoDB
}

// Prices in US dollars, us-east-1: aws.amazon.com/sqs/pricing, /lambda/pricing (arm64),
// /dynamodb/pricing/on-demand, as of 2026.
const (
	priceSQS        = 0.40 / 1e6
	priceInvocation = 0.20 / 1e6
	priceGBSecond   = 0.0000133334
	priceWrite      = 0.625 / 1e6
	priceRead       = 0.125 / 1e6

	memoryDeliver = 0.5 // GB
	memoryRelease = 1.0
	tickTakes     = 0.2 // s, of a run that finds nothing to do
	tickHalfReads = 19  // 16 parts of the index by due time, the endpoints in trouble, notes, and one more
)

// requests are calls over the network. release moves 25 items with five of them: one read, three
// sends, one delete.
func (c calls) requests() int { return c.sqs + c.other + c.released/5 + tickHalfReads*c.ticks }

func (c calls) dollars() float64 {
	return priceSQS*float64(c.sqs+(c.released+9)/10) +
		priceInvocation*float64(c.invocations+c.ticks) +
		priceGBSecond*(memoryDeliver*c.busy.Seconds()+memoryRelease*tickTakes*float64(c.ticks)) +
		priceWrite*float64(c.writes) +
		priceRead*(float64(c.reads)+float64(c.halfReads)/2+tickHalfReads*float64(c.ticks)/2)
}

// idleMonth is what release costs in a month of 30 days in which it never has anything to do.
func idleMonth() float64 { return calls{ticks: 30 * 24 * 60}.dollars() }
