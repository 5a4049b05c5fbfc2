package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/plot"
)

// The generated part of the page lies between these lines.
const (
	writtenFrom = "<!-- make simulate writes from here -->"
	writtenTo   = "<!-- to here -->"
)

// simulated is the page with all figures; capacity.md has the worst of each family.
const simulated = "simulated.md"

const simulatedHead = "# All figures of the simulation\n\n" +
	"`make simulate` writes this page. [Capacity](capacity.md#the-simulation) says what was played, and has the worst\n" +
	"row of each family. Where a cell has two figures, the second is with fair queues.\n"

// Write writes the worst figures into capacity.md in the directory and all of them into a page next to it, and draws
// the plots of the played scenarios there.
func Write(dir string, results []Result) error {
	page := filepath.Join(dir, "capacity.md")
	text, err := os.ReadFile(page) //nolint:gosec // the caller's own
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	before, rest, found := strings.Cut(string(text), writtenFrom)
	_, behind, ends := strings.Cut(rest, writtenTo)
	if !found || !ends {
		return fmt.Errorf("%s has no part to write", page)
	}
	families := tables(results)
	if err := write(page, before+writtenFrom+"\n\n"+missed(results)+worstOf(families)+"\n"+writtenTo+behind); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, simulated), simulatedHead+everyRow(families)); err != nil {
		return err
	}
	for name, draw := range map[string]func([]Result) string{
		"lateness.svg": lateness, "outage.svg": recovery, "paced.svg": paced,
	} {
		if drawn := draw(results); drawn != "" {
			if err := write(filepath.Join(dir, name), drawn); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // a page for all
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// Tables are the missed goals and the figures of all results, in Markdown.
func Tables(results []Result) string { return missed(results) + everyRow(tables(results)) }

// table has the figures of scenarios that are measured alike, in Markdown.
type table struct {
	head string
	rows []row
}

// row is a scenario's. It is worse the greater the figure is, among those of its kind.
type row struct {
	kind  Kind
	text  string
	worse float64
}

// tables are the figures of all results. Where two stand in a cell, the second is with fair queues.
func tables(results []Result) []table {
	attacks := table{head: "| attack, or bad day of many | others, for | late | $ / million |\n|---|---|---|---|\n"}
	swept := table{head: "| swept attack, a minute | one | ten | ten in turn | one, into idle processes | " +
		"retries late, p99 |\n|---|---|---|---|---|---|\n"}
	honest := table{head: "| honest tenant | others, for | own p99 late | slow |\n|---|---|---|---|\n"}
	outages := table{head: "| outage | others, for | late | Backlog | first 2xx after | caught up after |\n" +
		"|---|---|---|---|---|---|\n"}
	rates := table{head: "| limit | flood | sent a second, in a minute's mean | most in one | out of order | " +
		"others late | $ / million |\n|---|---|---|---|---|---|---|\n"}
	shares := table{head: "| tenants with limits, endpoints × limit × factor | want | honest pace of 100/s | " +
		"honest recovery of 12,000 | others late | $ / million |\n|---|---|---|---|---|---|\n"}
	ends := table{head: "| held deliveries that die | others' retries late, p99 | not dead a minute later | " +
		"others late |\n|---|---|---|---|\n"}
	for _, runs := range byName(results) {
		switch runs[0].Kind {
		case Attack, Calm:
			attacks.rows = append(attacks.rows, attackRow(runs))
		case Swept:
			swept.rows = append(swept.rows, sweptRow(runs))
		case Paced:
			for _, r := range runs {
				rates.rows = append(rates.rows, pacedRow(r))
			}
		case Shared:
			for _, r := range runs {
				shares.rows = append(shares.rows, sharesRow(r))
			}
		case Dying:
			for _, r := range runs {
				ends.rows = append(ends.rows, dyingRow(r))
			}
		case Honest:
			honest.rows = append(honest.rows, honestRow(runs))
		case Outage:
			outages.rows = append(outages.rows, outageRow(runs))
		}
	}
	return []table{attacks, swept, honest, outages, rates, shares, ends}
}

// everyRow has every row of every table.
func everyRow(families []table) string {
	var text strings.Builder
	for _, family := range families {
		if len(family.rows) == 0 {
			continue
		}
		text.WriteString("\n" + family.head)
		for _, r := range family.rows {
			text.WriteString(r.text)
		}
	}
	return text.String()
}

// worstOf has the worst row of each kind.
func worstOf(families []table) string {
	var left []table
	for _, family := range families {
		worst := map[Kind]row{}
		for _, r := range family.rows {
			if before, seen := worst[r.kind]; !seen || r.worse > before.worse {
				worst[r.kind] = r
			}
		}
		rows := slices.DeleteFunc(slices.Clone(family.rows), func(r row) bool { return worst[r.kind] != r })
		left = append(left, table{family.head, rows})
	}
	return everyRow(left)
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

// byName has the runs of each scenario together.
func byName(results []Result) (all [][]Result) {
	for _, r := range results {
		n := slices.IndexFunc(all, func(runs []Result) bool { return runs[0].Name == r.Name })
		if n < 0 {
			n, all = len(all), append(all, nil)
		}
		all[n] = append(all[n], r)
	}
	return all
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

// missed says which goals the results miss.
func missed(results []Result) string {
	var all strings.Builder
	for _, r := range results {
		for _, problem := range r.Problems() {
			fmt.Fprintf(&all, "- `%s`: %s\n", r.Title(), problem)
		}
	}
	if all.Len() == 0 {
		return "All goals are met.\n"
	}
	return "Goals that are missed:\n\n" + all.String()
}

// Sweep is every figure of the swept attacks, to compare two versions of the code line by line.
func Sweep(results []Result) string {
	var all strings.Builder
	all.WriteString("| attack | late | last slow after | not slow | late in the end | writes/s |\n")
	all.WriteString("|---|---|---|---|---|---|\n")
	for _, r := range results {
		if b := r.Busy; r.Kind == Swept {
			fmt.Fprintf(&all, "| %s | %.1f s | %s | %d | %.1f %% | %.1f |\n",
				r.Title(), b.Seconds, b.SlowAfter.Round(time.Second/10), b.Fast, 100*b.Going, b.Writes)
		}
	}
	return all.String()
}
