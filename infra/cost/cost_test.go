package cost

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var cents = cmpopts.EquateApprox(0, 1e-9)

func TestUsage_dollars(t *testing.T) {
	for name, row := range map[string]struct {
		used usage
		want bill
	}{
		"requests to SQS, half of them with a group": {usage{requests: 10, fair: 5}, bill{sqs: 4.5e-6}},
		"what the publisher sends is its own":        {usage{published: 10}, bill{publisher: 4e-6}},
		"invocations and their time":                 {usage{invocations: 5, gbSeconds: 2}, bill{lambda: 1e-6 + 2.66667e-05}},
		"units":                                      {usage{writes: 2, reads: 1.5}, bill{writes: 1.25e-6, reads: 0.1875e-6}},
		"bytes":                                      {usage{logged: 2e9, sent: 1e9}, bill{logs: 1, egress: 0.09}},
		"records, a gigabyte for a month":            {usage{byteMonths: 1e9}, bill{stored: 0.25}},
		"keys and schedules":                         {usage{kms: 10_000, scheduleRuns: 1e6}, bill{kms: 0.03, schedule: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, row.used.dollars(1), cmp.AllowUnexported(bill{}), cents); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBill(t *testing.T) {
	b := bill{
		sqs: 1, lambda: 2, writes: 4, reads: 8, stored: 16, logs: 32, kms: 64, schedule: 128,
		publisher: 256, egress: 512,
	}
	if b.herald() != 255 || b.total() != 1023 {
		t.Errorf("%v and %v, want 255 and 1023", b.herald(), b.total())
	}
}

func TestUsage_minus(t *testing.T) {
	one := usage{1, 2, 3, 4, 5.5, 6, 7.5, 8, 9, 10.5, 11, 12}
	if diff := cmp.Diff(usage{}, one.times(3).minus(one, 3), cmp.AllowUnexported(usage{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(one.times(2), one.plus(one), cmp.AllowUnexported(usage{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWorker_gbSeconds(t *testing.T) {
	for name, row := range map[string]struct {
		worker worker
		n      int
		want   float64
	}{
		"one message":         {worker{memory: 1024, calls: 2}, 1, (10 + 0.55*1769/1024) / 1000},
		"more messages":       {worker{memory: 512, calls: 2}, 10, (10 + 1.0*1769/512) / 2000},
		"with a POST":         {worker{memory: 512, calls: 2, posts: true}, 10, (90 + 1.0*1769/512) / 2000},
		"more than one core":  {worker{memory: 3538, calls: 0}, 1, 0.55 * 3538 / 1024 / 1000},
		"nothing but a start": {worker{memory: 1769}, 0, 0.5 * 1769 / 1024 / 1000},
	} {
		if got := row.worker.gbSeconds(row.n); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

func TestChunks(t *testing.T) {
	for bytes, want := range map[int]int{0: 1, 1: 1, 65_536: 1, 65_537: 2, 262_144: 4} {
		if got := chunks(bytes); got != want {
			t.Errorf("%d bytes are %d requests, want %d", bytes, got, want)
		}
	}
}

// A tenth of the events fails: one in a hundred costs a tenth of the difference more.
func TestWithHundredth(t *testing.T) {
	rows := withHundredth([]row{{full, 50, usage{writes: 50}}, {tenth, 50, usage{writes: 70}}})
	want := []row{
		{full, 50, usage{writes: 50}},
		{"batches of 10, 1 % fail once", 500, usage{writes: 520}},
		{tenth, 50, usage{writes: 70}},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{}, usage{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	rows := []row{{"a name", 10, usage{requests: 20, fair: 10, published: 10, writes: 20, logged: 10_000, sent: 10_000}}}
	got := table(rows)
	const want = "| a name | 0.90 | 0.00 | 1.25 | 0.00 | 0.00 | 0.50 | 0.00 | **2.65** | 0.40 | 0.09 | **3.14** |\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	const each = "| a name | 2.00 | 0.00 | 0.0 | 2.00 | 0.00 | 1000 | 0.00 | 1000 |\n"
	if got := counts(rows); !strings.HasSuffix(got, each) {
		t.Errorf("got\n%swant\n%s", got, each)
	}
}

func TestFixed_lines(t *testing.T) {
	f := fixed{idle: usage{invocations: 43_200, scheduleRuns: 43_200}, mappings: 4, alarms: 10, keys: 2, names: 20}
	const want = `| fixed | dollars a month |
|---|---|
| ` + "`release`" + ` with nothing to do: 43200 runs | 0.05 |
| long polls of 4 idle queue mappings | 1.04 |
| alarms on 10 metrics | 1.00 |
| 20 custom metrics, as far as these runs wrote them | 6.00 |
| 2 KMS keys | 2.00 |
| **all** | **10.09** |
`
	if diff := cmp.Diff(want, f.lines()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSplice(t *testing.T) {
	got, err := splice("before\n"+begin+"old\n"+end+"after\n", "new\n")
	if want := "before\n" + begin + "\nnew\n\n" + end + "after\n"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, page := range []string{"", begin, end, end + begin} {
		if _, err := splice(page, "new"); err == nil {
			t.Errorf("%q was taken", page)
		}
	}
}

func TestPrices(t *testing.T) {
	got := prices()
	for _, line := range []string{
		"| SQS, standard queue | 0.40 per million requests of 64 KB | aws.amazon.com/sqs/pricing |",
		"| Lambda, arm64 | 0.20 per million invocations, 0.0000133334 per GB-second | aws.amazon.com/lambda/pricing |",
		"| KMS | 0.03 per 10,000 calls; a month 1.00 for each key | aws.amazon.com/kms/pricing |",
		"| to the internet | 0.09 per GB | aws.amazon.com/ec2/pricing/on-demand |",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

func TestAssumptions(t *testing.T) {
	const want = "costs | $0.67 more per million, one event at a time, and $0.07 in batches of 10 |\n"
	if got := assumptions(); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// Of 800 bytes that the lines of an event have, one in a hundred.
func TestWithSample(t *testing.T) {
	got := withSample([]row{
		{full, 50, usage{logged: 10_000}}, {every, 50, usage{logged: 50_000}}, {"another", 10, usage{logged: 5_000}},
	})
	want := []row{
		{full, 50, usage{logged: 10_400}}, {every, 50, usage{logged: 50_000}}, {"another", 10, usage{logged: 5_080}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{}, usage{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
