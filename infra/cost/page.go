package cost

import (
	"errors"
	"fmt"
	"strings"
)

// row is one line of the tables: what was used for so many of what it says.
type row struct {
	name string
	of   float64
	used usage
}

// each is what was used for n of them.
func (r row) each(n float64) usage { return usage{}.plus(n/r.of, r.used) }

// text renders the generated part of the page; monthly is used without any deliveries, too.
func text(rows, monthly []row) string {
	return strings.Join([]string{dollars(rows), counts(rows), fixed(monthly), listed()}, "\n")
}

func dollars(rows []row) string {
	var b strings.Builder
	b.WriteString("| dollars per million | SQS | Lambda | DynamoDB writes | reads | storage | logs | KMS | **Herald** |" +
		" publisher's sends | to receivers | **all** |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		u := r.each(million)
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, column := range [][]kind{{requests, fair}, {invocations, gbSeconds}, {writes}, {reads}, {byteMonths},
			{logged}, {keyCalls}} {
			fmt.Fprintf(&b, " %.2f |", u.dollars(column...))
		}
		fmt.Fprintf(&b, " **%.2f** | %.2f | %.2f | **%.2f** |\n", u.herald(), u.dollars(published), u.dollars(sent), u.all())
	}
	return b.String()
}

// counts shows what the dollars are made of.
func counts(rows []row) string {
	var b strings.Builder
	b.WriteString("| of each | SQS requests | invocations | MB-seconds | write units | read units | bytes of log |" +
		" KMS calls | bytes to receivers |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		u := r.each(1)
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.1f | %.2f | %.2f | %.0f | %.2f | %.0f |\n", r.name, u[requests],
			u[invocations], 1024*u[gbSeconds], u[writes], u[reads], u[logged], u[keyCalls], u[sent])
	}
	return b.String()
}

// fixed shows what costs the same however much is delivered.
func fixed(monthly []row) string {
	var b strings.Builder
	b.WriteString("| fixed | dollars a month |\n|---|---|\n")
	sum := 0.0
	for _, r := range monthly {
		fmt.Fprintf(&b, "| %s | %.2f |\n", r.name, r.used.all())
		sum += r.used.all()
	}
	fmt.Fprintf(&b, "| **all** | **%.2f** |\n", sum)
	return b.String()
}

func listed() string {
	lines := "| price | dollars |\n|---|---|\n"
	for _, p := range prices {
		lines += p.String() + "\n"
	}
	return lines
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
