package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The generated part of the page lies between these lines.
const (
	writtenFrom = "<!-- make simulate writes from here -->"
	writtenTo   = "<!-- to here -->"
)

const everyRowHead = "# All figures of the simulation\n\n" +
	"infra/docs/capacity.md says what was played, and has the worst row of each family. Where a cell has two figures,\n" +
	"the second is with fair queues.\n"

// Write writes the worst figures into capacity.md in the directory, and draws the plots of the played scenarios there.
// All figures go into a file of their own.
func Write(dir, every string, results []Result) error {
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
	if err := write(every, everyRowHead+everyRow(families)); err != nil {
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
