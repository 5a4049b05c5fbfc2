package cost

import (
	"errors"
	"fmt"
	"strings"
)

// row is one line of the tables: the usage of so many events or deliveries.
type row struct {
	name string
	of   float64
	used usage
}

// perMillion is the usage of a million of them.
func (r row) perMillion() usage { return usage{}.plus(million/r.of, r.used) }

// figures are the page's.
type figures struct {
	rows   []row // of traffic
	fixed  []fixed
	months []monthly
	saves  []saving
}

// text renders the generated part of the page.
func (f figures) text() string {
	return strings.Join([]string{
		people(f.months), savings(f.saves), fixedCosts(f.fixed), dollars(f.rows),
	}, "\n")
}

func dollars(rows []row) string {
	var b strings.Builder
	b.WriteString("| dollars per million | SQS | Lambda | DynamoDB | logs, KMS, EventBridge | **Herald** |" +
		" publisher, receivers | **all** |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		u := r.perMillion()
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, column := range [][]kind{
			{requests, fair}, {invocations, gbSeconds}, {writes, reads, byteMonths}, {logged, keyCalls, told},
		} {
			fmt.Fprintf(&b, " %.2f |", u.dollars(column...))
		}
		fmt.Fprintf(&b, " **%.2f** | %.2f | **%.2f** |\n", u.herald(), u.dollars(published, sent), u.all())
	}
	return b.String()
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

func fixedCosts(all []fixed) string {
	var b strings.Builder
	b.WriteString("| dollars a month | idle | with traffic |\n|---|---|---|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f |\n", f.name, f.idle.all(), f.busy.all())
	}
	idle, busy := sums(all)
	apart := idle.dollars(dashboards)
	fmt.Fprintf(&b, "| **all, the dashboard apart** | **%.2f** | **%.2f** |\n", idle.all()-apart, busy.all()-apart)
	return b.String()
}

const (
	begin = "<!-- make cost writes from here -->\n"
	end   = "<!-- to here -->\n"
)

var errMarks = errors.New("the marks of the generated part are missing")

// splice puts generated text between the marks of a page.
func splice(page, text string) (string, error) {
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", errMarks
	}
	return head + begin + "\n" + text + "\n" + end + tail, nil
}
