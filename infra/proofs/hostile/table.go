package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// printResults prints a line for each case, and the number of findings at the end.
func printResults(w io.Writer, results []result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RECEIVER\tA SAFE SENDER\tTHIS SENDER TOOK\tIN\tFOUND")
	bad := 0
	for _, r := range results {
		if len(r.Findings) > 0 {
			bad++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Name, advice(r.Case), list(r.Statuses),
			r.Took.Round(10*time.Millisecond), clauses(r.Findings))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d receivers found something.\n", bad, len(results))
	return err
}

// clauses are findings in one line.
func clauses(found []finding) string {
	var all []string
	for _, f := range found {
		all = append(all, f.Kind+": "+f.Says)
	}
	return strings.Join(all, "; ")
}

// await prints the URLs, waits for the end, and prints the counts of the receivers.
func (k *kit) await(ctx context.Context, w io.Writer, serve time.Duration) error {
	fmt.Fprintf(w, "Have the sender trust %s, and let it POST to each URL so many times.\n"+
		"Interrupt to see what it did; it ends in %s.\n\n", k.authority, serve)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "URL\tPOSTS\tPAUSE\tRECEIVER\tA SAFE SENDER")
	for _, c := range k.cases {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", c.URL, len(c.Want), c.Pause, c.Name, advice(c.Case))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the URLs: %w", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(serve):
	}
	return k.printSeen(w)
}

// printSeen prints the counts of the receivers that were asked. They do not see the statuses that a sender took, nor
// its memory.
func (k *kit) printSeen(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nRECEIVER\tCONNECTIONS\tREQUESTS\tREAD\tLONGEST CONNECTION\tFOUND")
	asked := 0
	for _, c := range k.cases {
		seen := c.Seen
		if seen.Connections()+seen.Requests() == 0 {
			continue
		}
		asked++
		found := judge(c, attempt{Statuses: make([]int, len(c.Want))})
		if never := c.Ends != receivers.Promptly && seen.Held() > time.Minute; never {
			found = append(found, finding{hung, "it kept a connection without an answer for " +
				seen.Held().Round(time.Second).String()})
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d KiB\t%s\t%s\n", c.Name, seen.Connections(), seen.Requests(), seen.Sent()>>10,
			seen.Held().Round(100*time.Millisecond), clauses(found))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing what was seen: %w", err)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d receivers were asked.\n", asked, len(k.cases))
	return err
}
