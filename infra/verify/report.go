package verify

import (
	"fmt"
	"strings"
	"time"
)

// Report writes the results in Markdown.
func Report(stack string, at time.Time, results []Result, ok bool) string {
	var b strings.Builder
	verdict := "everything that could be shown held"
	if !ok {
		verdict = "**broken**"
	}
	fmt.Fprintf(&b, "# %s, verified %s\n\nThe verdict: %s.\n\n", stack, at.UTC().Format("2006-01-02 15:04 MST"), verdict)
	b.WriteString("| step | | observed | took |\n|---|---|---|---|\n")
	for _, r := range results {
		says := strings.NewReplacer("\n", " ", "|", "\\|").Replace(r.Says) // within its cell
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f s |\n", r.Step, r.State, says, r.Took.Seconds())
	}
	return b.String()
}
