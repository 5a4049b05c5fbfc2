package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// The generated part of a page is between these lines.
const (
	from = "<!-- go run ./infra/proofs/hostile writes from here -->\n"
	to   = "<!-- to here -->\n"
)

// order is the order of the senders on the page.
var order = []string{"herald", "go", "node", "python", "curl"}

// compare plays all senders that come with the kit, and writes their tables into the page.
func compare(ctx context.Context, o options) error {
	old, err := os.ReadFile(o.write)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	before, rest, found := strings.Cut(string(old), from)
	_, after, ended := strings.Cut(rest, to)
	if !found || !ended {
		return errors.New("the page has no lines between which its tables go")
	}
	played := map[string][]result{}
	for _, name := range order {
		played[name], err = playFresh(ctx, name, o)
		if err != nil {
			return fmt.Errorf("sender %s: %w", name, err)
		}
		fmt.Printf("%s: %d of %d receivers found something\n", name, bad(played[name]), len(played[name]))
	}
	tables := strings.Join([]string{"", summary(played), listed(played), ""}, "\n")
	//nolint:gosec // the developer names the page
	if err = os.WriteFile(o.write, []byte(before+from+tables+to+after), 0o600); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// playFresh plays a sender on receivers that no other sender has asked.
func playFresh(ctx context.Context, name string, o options) ([]result, error) {
	command, err := builtIn(name)
	if err != nil {
		return nil, err
	}
	kit, err := start(o)
	if err != nil {
		return nil, err
	}
	defer kit.end()
	return kit.play(ctx, command, o)
}

// bad is the number of receivers that found something.
func bad(results []result) (n int) {
	for _, r := range results {
		if len(r.Findings) > 0 {
			n++
		}
	}
	return n
}

// summary counts the findings of each kind and sender.
func summary(played map[string][]result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d receivers, so many found:\n\n| kind of finding | %s |\n|---|%s\n", len(played[order[0]]),
		strings.Join(order, " | "), strings.Repeat("---|", len(order)))
	for _, kind := range kinds {
		fmt.Fprintf(&b, "| %s |", kind)
		for _, name := range order {
			n := 0
			for _, r := range played[name] {
				for _, f := range r.Findings {
					if f.Kind == kind {
						n++
					}
				}
			}
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// listed has a row for each receiver that found more than a connection that was used again.
func listed(played map[string][]result) string {
	var b strings.Builder
	b.WriteString("Each receiver that found more than a connection that was used again:\n\n")
	fmt.Fprintf(&b, "| a receiver that | %s |\n|---|%s\n", strings.Join(order, " | "), strings.Repeat("---|", len(order)))
	for i, c := range played[order[0]] {
		row, some := "| "+escaped(c.Name)+" |", false
		for _, name := range order {
			var kinds []string
			for _, f := range played[name][i].Findings {
				kinds = append(kinds, f.Kind)
				some = some || f.Kind != reused
			}
			row += " " + strings.Join(kinds, ", ") + " |"
		}
		if some {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

func escaped(text string) string { return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(text) }
