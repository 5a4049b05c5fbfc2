package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/herald-webhooks/herald/infra/internal/plot"
)

// The part of the page that is written lies between these lines.
const (
	writtenFrom = "<!-- make simulate writes from here -->"
	writtenTo   = "<!-- to here -->"
)

// Write writes the figures into capacity.md in the directory.
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
	return write(page, before+writtenFrom+"\n\n"+Tables(results)+"\n"+writtenTo+behind)
}

// Plot writes those plots into the directory whose scenarios were played.
func Plot(dir string, results []Result) error {
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

const (
	head = "| scenario | others/s, for | late | retries' p99 late | POSTs | in flight | Backlog | dead / lost / twice " +
		"| requests / 1,000 | $ / million | goals |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
	headHonest = "| scenario | others/s, for | own p99 | slow | late | requests / 1,000 | $ / million | goals |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	headOutage = "| scenario | others/s, for | first 2xx after | caught up after | Backlog | POSTs | late " +
		"| dead / lost / twice | goals |\n|---|---|---|---|---|---|---|---|---|\n"
)

// Tables are the figures of all results, in Markdown.
func Tables(results []Result) string {
	var attacks, honest, outages strings.Builder
	for _, r := range results {
		switch r.Kind {
		case Attack, Calm:
			fmt.Fprintf(&attacks, "| `%s`: %s | %s | %s | %s | %s | %s | %s | %s | %.0f | %.2f | %s |\n", r.Name, r.Says,
				r.span(), percent(r.WorstDay), plot.Short(r.RetriesP99), plot.Thousands(r.Posts), plot.Thousands(r.InFlight),
				plot.Thousands(r.Backlog), r.ends(), r.Requests, r.Dollars, r.reached())
		case Honest:
			fmt.Fprintf(&honest, "| `%s`: %s | %s | %s | %s | %s | %.0f | %.2f | %s |\n", r.Name, r.Says, r.span(),
				plot.Short(r.OwnP99), yes(r.Slow), percent(r.WorstDay), r.Requests, r.Dollars, r.reached())
		case Outage:
			fmt.Fprintf(&outages, "| `%s`: %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Says, r.span(),
				plot.Short(r.FirstOK), plot.Short(r.CaughtUp), plot.Thousands(r.Backlog), plot.Thousands(r.Posts),
				percent(r.WorstDay), r.ends(), r.reached())
		}
	}
	return "### Attacks, and bad days of many\n\n" + head + attacks.String() +
		"\n### Honest tenants with slow answers\n\n" + headHonest + honest.String() +
		"\n### Outages\n\n" + headOutage + outages.String()
}

func (r Result) span() string {
	return fmt.Sprintf("%s, %s", plot.Thousands(int(r.Rate)), plot.Short(r.Length))
}

func (r Result) ends() string { return fmt.Sprintf("%d / %d / %d", r.Deaths, r.Lost, r.Twice) }

func (r Result) reached() string { return yes(len(r.Problems()) == 0) }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
