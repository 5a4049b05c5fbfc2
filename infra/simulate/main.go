package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/parallel"
)

func main() {
	hours := flag.Int("hours", 24, "length of the long scenarios")
	only := flag.String("scenario", "", "names of scenarios, with commas between; empty: all")
	seed := flag.Uint64("seed", 1, "of the random numbers: the same seed gives the same figures")
	fair := flag.Bool("fair", false, "fair queues on")
	write := flag.String("write", "", "a document whose generated part is written anew; empty: print it")
	flag.Parse()
	if err := simulate(selected(*hours, *only, *seed, *fair), *write); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func selected(hours int, only string, seed uint64, fair bool) (those []*scenario) {
	names := strings.Split(only, ",")
	for _, s := range scenarios(hours) {
		if only == "" || slices.Contains(names, s.name) {
			s.seed, s.fair = seed, fair
			those = append(those, s)
		}
	}
	return those
}

// simulate runs every scenario under both sets of rules, two runs at a time.
func simulate(those []*scenario, write string) error {
	results := make([]result, len(those))
	for i, s := range those {
		results[i] = result{scenario: s, v010: newWorld(s, false), backlog: newWorld(s, true)}
	}
	for _, err := range parallel.Each(2*len(those), 2, func(i int) error {
		w := results[i/2].v010
		if i%2 == 1 {
			w = results[i/2].backlog
		}
		began := time.Now()
		w.run()
		w.forget()
		fmt.Fprintf(os.Stderr, "%s, %d of 2: %s\n", w.scenario.name, i%2+1, time.Since(began).Round(time.Millisecond))
		return nil
	}) {
		if err != nil {
			return err
		}
	}
	var text strings.Builder
	printAll(&text, results)
	if write == "" {
		fmt.Print(text.String())
		return nil
	}
	return replaceIn(write, text.String())
}

func printAll(out io.Writer, results []result) {
	all := map[string]result{}
	for _, r := range results {
		all[r.scenario.name] = r
	}
	printGoals(out, all)
	for _, r := range results {
		r.print(out)
	}
}

// The generated part of a document lies between these.
const (
	begins = "<!-- make simulate writes from here -->\n"
	ends   = "<!-- to here -->\n"
)

func replaceIn(path, text string) error {
	old, err := os.ReadFile(path) //nolint:gosec // the caller's own
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	head, rest, begun := strings.Cut(string(old), begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		return fmt.Errorf("%s has no generated part", path)
	}
	if err := os.WriteFile(path, []byte(head+begins+"\n"+text+ends+tail), 0o600); err != nil { //nolint:gosec // as above
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}
