package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/internal/plot"
)

// The generated part of the page lies between these lines.
const (
	writtenFrom = "<!-- make simulate writes from here -->"
	writtenTo   = "<!-- to here -->"
)

// Write writes the figures into capacity.md in the directory, and draws the plots of the played scenarios beside it.
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
	if err := write(page, before+writtenFrom+"\n\n"+Tables(results)+"\n"+writtenTo+behind); err != nil {
		return err
	}
	for name, draw := range map[string]func([]Result) string{"lateness.svg": lateness, "outage.svg": recovery} {
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

// Tables are the figures of all results, in Markdown.
func Tables(results []Result) string {
	var attacks, honest, outages strings.Builder
	for _, runs := range byName(results) {
		r := worst(runs)
		fields := fmt.Sprintf("| `%s`: %s | %s | ", r.Name, r.Says, spans(runs))
		switch late := 100 * r.WorstDay; r.Kind {
		case Attack, Calm:
			fmt.Fprintf(&attacks, "%s%.2f %% | %.2f |\n", fields, late, r.Dollars)
		case Honest:
			fmt.Fprintf(&honest, "%s%s |\n", fields, plot.Short(r.OwnP99))
		case Outage:
			fmt.Fprintf(&outages, "%s%.2f %% | %s | %s | %s |\n", fields, late, plot.Thousands(r.Backlog),
				plot.Short(r.FirstOK), plot.Short(r.CaughtUp))
		}
	}
	return missed(results) +
		"\n| attack, or bad day of many | others, for | late | $ / million |\n|---|---|---|---|\n" +
		attacks.String() +
		"\n| honest tenant | others, for | own p99 late |\n|---|---|---|\n" + honest.String() +
		"\n| outage | others, for | late | Backlog | first 2xx after | caught up after |\n|---|---|---|---|---|---|\n" +
		outages.String()
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

// worst has the worst figures of all runs of a scenario.
func worst(runs []Result) Result {
	w := runs[0]
	for _, r := range runs[1:] {
		w.WorstDay, w.OwnP99 = max(w.WorstDay, r.WorstDay), max(w.OwnP99, r.OwnP99)
		w.Backlog, w.Dollars = max(w.Backlog, r.Backlog), max(w.Dollars, r.Dollars)
		w.FirstOK, w.CaughtUp = max(w.FirstOK, r.FirstOK), max(w.CaughtUp, r.CaughtUp)
	}
	return w
}

func spans(runs []Result) string {
	var all []string
	for _, r := range runs {
		all = append(all, fmt.Sprintf("%s/s, %s", plot.Thousands(int(r.Rate)), plot.Short(r.Length)))
	}
	return strings.Join(all, "; ")
}

// missed says which goals the results miss.
func missed(results []Result) string {
	var all strings.Builder
	for _, r := range results {
		for _, problem := range r.Problems() {
			fmt.Fprintf(&all, "- `%s`, %s: %s\n", r.Name, spans([]Result{r}), problem)
		}
	}
	if all.Len() == 0 {
		return "All goals are met.\n"
	}
	return "Goals that are missed:\n\n" + all.String()
}
