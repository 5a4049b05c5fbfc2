package cost

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// row is one line of the table: what was used for so many of what it says.
type row struct {
	name string
	of   int
	used usage
}

// perMillion is the bill for a million.
func (r row) perMillion() bill { return r.used.dollars(million / float64(r.of)) }

// The rows that others refer to.
const (
	full  = "batches of 10"
	tenth = "batches of 10, 10 % fail once"
	every = "batches of 10, `SuccessLogSample` 100"
)

// sample is the template's SuccessLogSample, as a share.
const sample = 0.01

// withSample adds the lines of the sample to rows that were counted without: so few events have none, or
// more than their share.
func withSample(rows []row) []row {
	var none, all row
	for _, r := range rows {
		switch r.name {
		case full:
			none = r
		case every:
			all = r
		}
	}
	lines := sample * float64(all.used.logged-none.used.logged) / float64(none.of) // of an event
	for n, r := range rows {
		if r.name != every {
			rows[n].used.logged += int(math.Round(lines * float64(r.of)))
		}
	}
	return rows
}

// withHundredth adds what one failing delivery in a hundred costs, before that of one in ten: retries come
// alone, so ten of them cost ten times as much as one.
func withHundredth(rows []row) []row {
	var all []row
	var usual row
	for _, r := range rows {
		switch r.name {
		case full:
			usual = r
		case tenth:
			part := r.used.minus(usual.used, 1)
			all = append(all, row{"batches of 10, 1 % fail once", 10 * r.of, usual.used.times(10).plus(part)})
		}
		all = append(all, r)
	}
	return all
}

// table shows dollars per million.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| dollars per million | SQS | Lambda | DynamoDB writes | reads | storage | logs | KMS | **Herald** |" +
		" publisher's sends | to receivers | **all** |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		d := r.perMillion()
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | **%.2f** | %.2f | %.2f | **%.2f** |\n",
			r.name, d.sqs, d.lambda, d.writes, d.reads, d.stored, d.logs, d.kms, d.herald(),
			d.publisher, d.egress, d.total())
	}
	return b.String()
}

// counts shows what the dollars are made of.
func counts(rows []row) string {
	var b strings.Builder
	b.WriteString("| of each | SQS requests | invocations | MB-seconds | write units | read units | bytes of log |" +
		" KMS calls | bytes to receivers |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		u, n := r.used, float64(r.of)
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.1f | %.2f | %.2f | %.0f | %.2f | %.0f |\n", r.name, float64(u.requests)/n,
			float64(u.invocations)/n, 1024*u.gbSeconds/n, float64(u.writes)/n, u.reads/n, float64(u.logged)/n,
			float64(u.kms)/n, float64(u.sent)/n)
	}
	return b.String()
}

// fixed is what costs the same however much is delivered.
type fixed struct {
	idle                          usage // release with nothing to do, a month
	mappings, alarms, keys, names int   // names: of custom metrics
}

func (f fixed) lines() string {
	release := f.idle.dollars(1).herald()
	polls := float64(f.mappings) * pollers * month / pollSeconds * priceRequest
	alarms, metrics, keys := float64(f.alarms)*priceAlarm, float64(f.names)*priceMetric, float64(f.keys)*priceKey
	var b strings.Builder
	b.WriteString("| fixed | dollars a month |\n|---|---|\n")
	fmt.Fprintf(&b, "| `release` with nothing to do: %d runs | %.2f |\n", f.idle.invocations, release)
	fmt.Fprintf(&b, "| long polls of %d idle queue mappings | %.2f |\n", f.mappings, polls)
	fmt.Fprintf(&b, "| alarms on %d metrics | %.2f |\n", f.alarms, alarms)
	fmt.Fprintf(&b, "| %d custom metrics, as far as these runs wrote them | %.2f |\n", f.names, metrics)
	fmt.Fprintf(&b, "| %d KMS keys | %.2f |\n", f.keys, keys)
	fmt.Fprintf(&b, "| **all** | **%.2f** |\n", release+polls+alarms+metrics+keys)
	return b.String()
}

// prices says what the dollars are computed with, and where the prices are from.
func prices() string {
	var b strings.Builder
	b.WriteString("| price | dollars | where AWS says so |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| SQS, standard queue | %.2f per million requests of 64 KB | aws.amazon.com/sqs/pricing |\n",
		priceRequest*million)
	fmt.Fprintf(&b, "| … with message groups (fair queues) | %.2f per million more, here for every request that carries"+
		" messages with a group | aws.amazon.com/sqs/pricing |\n", priceFair*million)
	fmt.Fprintf(&b, "| Lambda, arm64 | %.2f per million invocations, %.10f per GB-second |"+
		" aws.amazon.com/lambda/pricing |\n", priceInvocation*million, priceGBSecond)
	fmt.Fprintf(&b, "| DynamoDB, on demand | %.3f per million write units, %.3f per million read units, %.2f per GB and"+
		" month | aws.amazon.com/dynamodb/pricing/on-demand |\n", priceWrite*million, priceRead*million, priceStored*gigabyte)
	fmt.Fprintf(&b, "| CloudWatch | %.2f per GB of logs; a month %.2f for each metric of an alarm, %.2f for each custom"+
		" metric | aws.amazon.com/cloudwatch/pricing |\n", priceLogged*gigabyte, priceAlarm, priceMetric)
	fmt.Fprintf(&b, "| KMS | %.2f per 10,000 calls; a month %.2f for each key | aws.amazon.com/kms/pricing |\n",
		priceKMS*10_000, priceKey)
	fmt.Fprintf(&b, "| EventBridge Scheduler | %.2f per million runs | aws.amazon.com/eventbridge/pricing |\n",
		priceSchedule*million)
	fmt.Fprintf(&b, "| to the internet | %.2f per GB | aws.amazon.com/ec2/pricing/on-demand |\n", priceSent*gigabyte)
	return b.String()
}

// assumptions says what the test does not count.
func assumptions() string {
	var b strings.Builder
	b.WriteString("| assumed | |\n|---|---|\n")
	fmt.Fprintf(&b, "| an invocation takes | %v ms for each call to AWS, one after another; %v ms for the receiver;"+
		" %v ms of CPU for itself and %v ms for each message on a whole core, of which a function has as much as"+
		" of %v MB |\n",
		millisCall, millisReceiver, millisCPU, millisCPUEach, coreMB)
	slower := workers["deliver"].memory / 1024 * 0.1 * priceGBSecond * million
	fmt.Fprintf(&b, "| a receiver that takes 100 ms longer costs | $%.2f more per million, one event at a time,"+
		" and $%.2f in batches of 10 |\n", slower, slower/sqsBatch)
	fmt.Fprintf(&b, "| Lambda | receives and deletes %d messages a call; asks an idle queue by %d long polls of %d s |\n",
		sqsBatch, pollers, pollSeconds)
	fmt.Fprintf(&b, "| a POST has | %d bytes of TLS, TCP and IP beside its request |\n", framing)
	fmt.Fprintf(&b, "| a stored record has | %d bytes of DynamoDB's own |\n", itemOverhead)
	return b.String()
}

const (
	begin = "<!-- make cost writes from here -->\n"
	end   = "<!-- to here -->\n"
)

var errMarks = errors.New("the marks of what is written are missing")

// splice puts generated text between the marks of a page.
func splice(page, text string) (string, error) {
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", errMarks
	}
	return head + begin + "\n" + text + "\n" + end + tail, nil
}
