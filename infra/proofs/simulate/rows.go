package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/kit/plot"
)

// row is a scenario's. It is worse the greater the figure is, among those of its kind.
type row struct {
	kind  Kind
	text  string
	worse float64
}

// firstCell is the first cell of a row, and lateness its figures of the others.
func firstCell(plain, fair Result) (first, late string) {
	r := plain
	if r.Name == "" {
		r = fair
	}
	late = both(plain, fair, func(r Result) string { return fmt.Sprintf("%.2f %%", 100*r.WorstDay) })
	return fmt.Sprintf("| `%s`: %s | ", r.Name, r.Says), late
}

func attackRow(runs []Result) row {
	plain, fair := worst(runs)
	first, late := firstCell(plain, fair)
	text := fmt.Sprintf("%s%s | %s | %.2f |\n", first, spans(runs), late, max(plain.Dollars, fair.Dollars))
	return row{runs[0].Kind, text, max(plain.WorstDay, fair.WorstDay)}
}

func sweptRow(runs []Result) row {
	plain, fair := worst(runs)
	first, _ := firstCell(plain, fair)
	text := fmt.Sprintf("%s%s |\n", first, strings.Join(sweep(runs), " | "))
	return row{Swept, text, max(plain.Busy.Seconds, fair.Busy.Seconds)}
}

// pacedRow is the worse, the further the pace is from its limit.
func pacedRow(r Result) row {
	text := fmt.Sprintf("| `%s` | %s | %s | %d | %s | %.2f %% | %.2f |\n", r.Title(), r.floods(), r.Pace.means(),
		r.Pace.Seconds, plot.Short(r.Pace.Overtaken), 100*r.WorstDay, r.Dollars)
	limit := float64(r.limit)
	return row{Paced, text, max(limit-r.Pace.Least, r.Pace.Most-limit) / max(limit, 1)}
}

// sharesRow is the worse, the less an honest tenant gets.
func sharesRow(r Result) row {
	s := r.Shares
	text := fmt.Sprintf("| `%s` | %s/s | %.1f/s | %s | %.2f %% | %.2f |\n", r.Title(),
		plot.Thousands(int(r.crowd.wants())), s.Paced, plot.Thousands(s.Recovered), 100*r.WorstDay, r.Dollars)
	return row{Shared, text, -min(s.Paced/honestLimit, float64(s.Recovered)/(recovering*heldForEach))}
}

// dyingRow is the worse, the later the others' retries are.
func dyingRow(r Result) row {
	text := fmt.Sprintf("| `%s` | %s | %s | %.2f %% |\n", r.Title(), plot.Short(r.RetriesP99), plot.Thousands(r.Overdue),
		100*r.WorstDay)
	return row{Dying, text, r.RetriesP99.Seconds()}
}

func honestRow(runs []Result) row {
	plain, fair := worst(runs)
	first, _ := firstCell(plain, fair)
	own := both(plain, fair, func(r Result) string { return plot.Short(r.OwnP99) })
	slow := both(plain, fair, func(r Result) string { return map[bool]string{true: "yes", false: "no"}[r.Slow] })
	text := fmt.Sprintf("%s%s | %s | %s |\n", first, spans(runs), own, slow)
	return row{Honest, text, max(plain.OwnP99, fair.OwnP99).Seconds()}
}

// outageRow is the worse, the later the receiver has caught up, and then the more of the others are late.
func outageRow(runs []Result) row {
	plain, fair := worst(runs)
	r := plain
	if r.Name == "" {
		r = fair
	}
	first, late := firstCell(plain, fair)
	text := fmt.Sprintf("%s%s | %s | %s | %s | %s |\n", first, spans(runs), late, plot.Thousands(r.Backlog),
		plot.Short(r.FirstOK), plot.Short(r.CaughtUp))
	return row{Outage, text, max(plain.WorstDay, fair.WorstDay) + r.CaughtUp.Hours()}
}

// both are a figure of the worst run without fair queues and of the worst with them.
func both(plain, fair Result, figure func(Result) string) string {
	of := func(r Result) string {
		if r.Name == "" {
			return "–"
		}
		return figure(r)
	}
	return of(plain) + " / " + of(fair)
}

// sweep are the columns of a swept attack: the seconds of lateness at its worst rate.
func sweep(runs []Result) (cells []string) {
	for _, column := range []string{one, ten, inTurn, idle} {
		plain, fair := worst(slices.DeleteFunc(slices.Clone(runs), func(r Result) bool { return r.column != column }))
		cells = append(cells, both(plain, fair, func(r Result) string { return fmt.Sprintf("%.1f s", r.Busy.Seconds) }))
	}
	plain, fair := worst(slices.DeleteFunc(slices.Clone(runs), func(r Result) bool { return r.retriesLate() == day }))
	return append(cells, both(plain, fair, func(r Result) string { return plot.Short(r.RetriesP99) }))
}

// worst returns the worst figures of a scenario's runs without fair queues, and the worst of its runs with them. If it
// has no such run, the Result has no name.
func worst(runs []Result) (plain, fair Result) {
	for _, r := range runs {
		w := &plain
		if r.Fair {
			w = &fair
		}
		if w.Name == "" {
			*w = r
			continue
		}
		w.WorstDay, w.OwnP99 = max(w.WorstDay, r.WorstDay), max(w.OwnP99, r.OwnP99)
		w.RetriesP99, w.Slow = max(w.RetriesP99, r.RetriesP99), w.Slow || r.Slow
		w.Backlog, w.Dollars = max(w.Backlog, r.Backlog), max(w.Dollars, r.Dollars)
		w.FirstOK, w.CaughtUp = max(w.FirstOK, r.FirstOK), max(w.CaughtUp, r.CaughtUp)
		w.Busy.Seconds = max(w.Busy.Seconds, r.Busy.Seconds)
	}
	return plain, fair
}

func spans(runs []Result) string {
	var all []string
	for _, r := range runs {
		span := fmt.Sprintf("%s/s, %s", plot.Thousands(int(r.Rate)), plot.Short(r.Length))
		if !slices.Contains(all, span) {
			all = append(all, span)
		}
	}
	return strings.Join(all, "; ")
}
