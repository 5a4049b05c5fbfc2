package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result is one scenario under both sets of rules.
type result struct {
	scenario      *scenario
	v010, backlog *world
}

type row struct {
	name  string
	value func(w *world) string
}

var rows = []row{
	{"first attempts of the others wait, p50 / p99 / max", func(w *world) string {
		h := &w.stats.first
		return show(h.quantile(0.5)) + " / " + show(h.quantile(0.99)) + " / " + show(h.max)
	}},
	{"retries of the others late by, p99: median of all hours / worst hour", func(w *world) string {
		worst, hour, median := w.stats.worstLate()
		return fmt.Sprintf("%s / %s (hour %d)", show(median), show(worst), hour)
	}},
	{"first attempts put off, of the others / of those affected", func(w *world) string {
		s := &w.stats
		return percent(s.diverts[0], s.firsts[0]) + " / " + percent(s.diverts[1], s.firsts[1])
	}},
	{"what is put off waits for its first POST, p99 / max", func(w *world) string {
		h := &w.stats.diverted
		if h.n == 0 {
			return "–"
		}
		return show(h.quantile(0.99)) + " / " + show(h.max)
	}},
	{"RetryQueue in flight, peak", func(w *world) string { return number(w.stats.inFlight) }},
	{"Backlog, peak", func(w *world) string {
		if !w.backlogs {
			return "–"
		}
		return number(w.stats.backlog)
	}},
	{"POSTs to those affected, by hour: first / median / most later", posts},
	{"circuits opened, of the others / of those affected", func(w *world) string {
		if !w.backlogs {
			return "–"
		}
		return number(w.stats.opened[0]) + " / " + number(w.stats.opened[1])
	}},
	{"first 2xx after the end of the outage; everything from before it delivered", func(w *world) string {
		switch s := &w.stats; {
		case w.scenario.up == 0:
			return "–"
		case s.caughtUp == 0:
			return "not within " + show(w.scenario.patience) + ", " + number(s.old) + " left"
		default:
			return show(s.firstOK-w.scenario.up) + "; " + show(s.caughtUp-w.scenario.up)
		}
	}},
	{"dead / lost / ended twice", func(w *world) string {
		return number(w.stats.dead) + " / " + number(w.stats.lost()) + " / " + number(w.stats.twice)
	}},
	{"requests to AWS per 1,000 deliveries; dollars per million", func(w *world) string {
		n := float64(w.stats.created)
		return fmt.Sprintf("%.0f; %.2f", float64(w.stats.aws.requests())/n*1e3, w.stats.aws.dollars()/n*1e6)
	}},
}

func posts(w *world) string {
	s := &w.stats
	from := 0
	if w.scenario.up > 0 {
		from = int(calm / time.Hour)
	}
	to := int(w.scenario.length / time.Hour)
	if to <= from || to > len(s.posts) {
		return "–"
	}
	first, later := s.posts[from], slices.Clone(s.posts[from+1:to])
	if len(later) == 0 {
		return number(first)
	}
	slices.Sort(later)
	return number(first) + " / " + number(later[len(later)/2]) + " / " + number(later[len(later)-1])
}

func (r result) print(out io.Writer) {
	fmt.Fprintf(out, "### `%s`: %s\n\n", r.scenario.name, r.scenario.says)
	fmt.Fprintf(out, "| | rules of 0.1.0 | with Backlog and breaker |\n|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(out, "| %s | %s | %s |\n", row.name, row.value(r.v010), row.value(r.backlog))
	}
	fmt.Fprintln(out)
}

// show rounds to what matters.
func show(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + " ms"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Hour:
		return strconv.FormatFloat(d.Minutes(), 'f', 1, 64) + " min"
	default:
		return strconv.FormatFloat(d.Hours(), 'f', 1, 64) + " h"
	}
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 2, 64) + " %"
}

// number has commas between thousands.
func number(n int) string {
	text := strconv.Itoa(n)
	var b strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
