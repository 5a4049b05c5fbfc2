package main

import (
	"fmt"
	"io"
	"time"
)

// goal is one row of what has to be reached.
type goal struct {
	what, wanted string
	scenario     string // that it is read from; empty: none
	reached      func(all map[string]result) (then, now string, ok bool)
}

// of reads the same figure of both runs of a scenario.
func of[V any](scenario string, read func(w *world) V, say func(V) string, ok func(V) bool,
) func(map[string]result) (string, string, bool) {
	return func(all map[string]result) (string, string, bool) {
		r := all[scenario]
		now := read(r.backlog)
		return say(read(r.v010)), say(now), ok(now)
	}
}

func goals() []goal {
	return []goal{
		{"1 % slow answers of a busy endpoint: its first attempts put off", "≤ 2 %", "slow", of("slow",
			func(w *world) float64 { return share(w.stats.diverts[1], w.stats.firsts[1]) }, percentOf,
			func(f float64) bool { return f <= 0.02 })},
		{"… and one that is put off is late by, at most", "≤ 1 s", "slow", of("slow",
			func(w *world) time.Duration { return w.stats.diverted.max }, show,
			func(d time.Duration) bool { return d <= time.Second })},
		{"largest tenant down: others' retries late, p99 of the worst hour", "≤ 5 s", "down", of("down",
			func(w *world) time.Duration { worst, _, _ := w.stats.worstLate(); return worst }, show,
			func(d time.Duration) bool { return d <= 5*time.Second })},
		{"… RetryQueue in flight, peak", "≤ 8,000", "down", of("down",
			func(w *world) int { return w.stats.inFlight }, number, func(n int) bool { return n <= 8_000 })},
		{"… circuit open after", "≤ 6 min", "down", of("down",
			func(w *world) time.Duration { return max(w.stats.openedAt-calm, 0) }, orNone(show),
			func(d time.Duration) bool { return d > 0 && d <= 6*time.Minute })},
		{"… POSTs to it in an hour, from the next full hour on", "≤ 30", "down", of("down",
			busiestHour, orNone(number), func(n int) bool { return n <= 30 })},
		{"first 2xx after the end of an outage (probe)", "≤ 6 min", "catch-up-day", of("catch-up-day",
			func(w *world) time.Duration { return w.stats.firstOK - w.scenario.up }, show,
			func(d time.Duration) bool { return d <= 6*time.Minute })},
		{"caught up after the first 2xx, 1,000 waiting", "≤ 5 min", "catch-up-1000", of("catch-up-1000",
			caughtUp, orNever, func(d time.Duration) bool { return d > 0 && d <= 5*time.Minute })},
		{"caught up after the first 2xx, a day of 10 events/s waiting", "≤ 6 h", "catch-up-day", of("catch-up-day",
			caughtUp, orNever, func(d time.Duration) bool { return d > 0 && d <= 6*time.Hour })},
		{"ten throttled receives of every retry: deaths", "0", "receives", of("receives", deaths, number, none)},
		{"… short places skipped", "≤ 2", "receives", func(map[string]result) (string, string, bool) {
			skipped := schedule.Place(1, 11) - 2
			return "all", number(skipped), skipped <= 2
		}},
		{"ten endpoints hang at once: others' first attempts, p99 ÷ p99 without, from the second minute", "≤ 1.5",
			"ten-hang", ratio("ten-hang", 1.5)},
		{"30 endpoints hang in 9 % of their answers: the same", "≤ 2", "thirty-slow", ratio("thirty-slow", 2)},
		{"all tables refuse for 10 min: deaths", "0", "tables", of("tables", deaths, number, none)},
		{"Lambda refuses for 10 min: deaths", "0", "lambda", of("lambda", deaths, number, none)},
		{"release with nothing to do, a month", "≤ $0.50", "", func(map[string]result) (string, string, bool) {
			return "–", fmt.Sprintf("$%.2f", idleMonth()), idleMonth() <= 0.5
		}},
		{"lost, or ended twice, in all scenarios", "0", "", func(all map[string]result) (string, string, bool) {
			then, now := 0, 0
			for _, r := range all {
				then += r.v010.stats.lost() + r.v010.stats.twice
				now += r.backlog.stats.lost() + r.backlog.stats.twice
			}
			return number(then), number(now), now == 0
		}},
	}
}

// orNone says nothing of what did not happen.
func orNone[V comparable](say func(V) string) func(V) string {
	return func(v V) string {
		if v == *new(V) {
			return "–"
		}
		return say(v)
	}
}

// orNever says that something has not happened when the scenario gave up.
func orNever(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return show(d)
}

func deaths(w *world) int { return w.stats.dead }

func none(n int) bool { return n == 0 }

func caughtUp(w *world) time.Duration { return max(w.stats.caughtUp-w.stats.firstOK, 0) }

// busiestHour counts full hours of the outage only, without that in which it began.
func busiestHour(w *world) (most int) {
	for hour := int(calm/time.Hour) + 1; hour < int(w.scenario.up/time.Hour); hour++ {
		most = max(most, w.stats.posts[hour])
	}
	return most
}

// ratio compares the others' first attempts with those of a day on which nothing happens, under the
// same rules.
func ratio(scenario string, wanted float64) func(map[string]result) (string, string, bool) {
	return func(all map[string]result) (string, string, bool) {
		than := func(w, without *world) float64 {
			return float64(w.stats.steady.quantile(0.99)) / float64(max(without.stats.first.quantile(0.99), 1))
		}
		calm, r := all["nobody"], all[scenario]
		now := than(r.backlog, calm.backlog)
		return fmt.Sprintf("%.2f", than(r.v010, calm.v010)), fmt.Sprintf("%.2f", now), now <= wanted
	}
}

// printGoals prints the rows whose scenarios were run.
func printGoals(out io.Writer, all map[string]result) {
	fmt.Fprintf(out, "| | wanted | rules of 0.1.0 | with Backlog and breaker | reached |\n|---|---|---|---|---|\n")
	for _, g := range goals() {
		if _, ok := all["nobody"]; !ok || g.scenario != "" && all[g.scenario].scenario == nil {
			continue
		}
		then, now, ok := g.reached(all)
		reached := map[bool]string{true: "yes", false: "no"}[ok]
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", g.what, g.wanted, then, now, reached)
	}
	fmt.Fprintln(out)
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func percentOf(f float64) string { return fmt.Sprintf("%.2f %%", 100*f) }
