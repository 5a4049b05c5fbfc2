package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
)

// demo is one showing: its partners and its checks so far.
type demo struct {
	client *client.Client
	server *receiver.Server
	held   int      // checks that held
	failed []string // texts of the checks that failed

	events   scene  // the first scene's endpoint stays in use
	shown    int    // how many of its requests are on the terminal
	doomed   doomed // published early, since it takes half a minute to die
	brokenID string // the endpoint with the open circuit
	notices  *client.Notices
}

// check counts and prints one thing that must hold.
func (d *demo) check(ok bool, format string, args ...any) {
	mark, text := "✓", fmt.Sprintf(format, args...)
	if ok {
		d.held++
	} else {
		mark, d.failed = "✗", append(d.failed, text)
	}
	fmt.Printf("  %s %s\n", mark, text)
}

func heading(text string) { fmt.Printf("\n── %s\n", text) }

func header() {
	fmt.Printf("  %-40s %-36s %7s %6s %8s  %s\n", "event", "wh-id", "attempt", "status", "latency", "verdict")
}

// row prints the request at index i; since is when it became due.
func row(requests []receiver.Request, i int, since time.Time) {
	r, attempt := requests[i], 0
	for _, earlier := range requests[:i+1] {
		if earlier.ID == r.ID {
			attempt++
		}
	}
	fmt.Printf("  %-40s %-36s %7d %6d %8s  %s\n", r.Event, r.ID, attempt, r.Status, seconds(r.At.Sub(since)), verdict(r))
}

func verdict(r receiver.Request) string {
	library := "standard-webhooks ok"
	if r.Standard != nil {
		_, library, _ = strings.Cut(r.Standard.Error(), "err: ")
		library = "standard-webhooks: " + library
	}
	if r.Status < 300 {
		return "verified, " + library
	}
	return "receiver fails, " + library
}

// summary prints the checks that failed, and reports whether all held.
func (d *demo) summary() bool {
	heading("Summary")
	for _, text := range d.failed {
		fmt.Printf("  ✗ %s\n", text)
	}
	if len(d.failed) == 0 {
		fmt.Printf("  ✓ all %d checks held\n", d.held)
	} else {
		fmt.Printf("  ✗ %d of %d checks failed\n", len(d.failed), d.held+len(d.failed))
	}
	return len(d.failed) == 0
}

func median(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.2f s", d.Seconds())
}
