//go:build emulator

package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// ends runs a command on the local stack and returns its output. The test fails unless the command ends with this exit
// code and prints all these texts.
func ends(t *testing.T, code int, line string, says ...string) (out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"herald", "--local", "--yes"}, strings.Fields(line)...)
	on := &terminal.Terminal{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now}
	got := commands.Run(t.Context(), args, on, stack.Connect)
	if got != code {
		t.Errorf("herald %s: exit code %d, want %d: %s%s", line, got, code, &stdout, &stderr)
	}
	contains(t, stdout.String(), says...)
	return stdout.String()
}

// An incident from its alarm to its end, by commands alone.
func TestCommandsOnTheLocalStack(t *testing.T) {
	page := pageOf(t, "moving-in.md")
	i := startStack(t)
	ends(t, exit.Done, "status")
	lines := tailing(t)
	broken, mended := i.answering(t, "broken", "user.deleted", 500)
	for _, id := range []string{"evt_1", "evt_2"} {
		data := jsontext.Value(`{"userId":"` + id + `"}`)
		i.publish(t, examples.Message{ID: id, TenantID: "acme", Type: "user.deleted", Data: data})
	}
	i.publish(t, examples.Message{ID: "evt_3", TenantID: "acme", Type: "no.such", Data: jsontext.Value("{}")})
	others := i.awkward(t)
	id := i.dies(t, broken, 2)
	mended.Fail()
	eventually(t, "a line of tail", func(context.Context) (bool, error) { return len(lines) > 0, nil })
	contains(t, <-lines, "http_5xx")
	i.hasPages(t, broken, id)
	ends(t, exit.Unhealthy, "status", broken.ID)
	ends(t, exit.Done, "endpoints show "+broken.ID+" --tenant acme", "failing")
	ends(t, exit.Done, "types used user.deleted", broken.ID, "user.deleted")
	ends(t, exit.Done, "endpoints pause "+broken.ID+" --tenant acme --reason ticket")
	ends(t, exit.Done, "endpoints show "+broken.ID+" --tenant acme", "ticket")
	ends(t, exit.Done, "endpoints resume "+broken.ID+" --tenant acme")
	ends(t, exit.Done, "dead list --tenant acme --reason http_5xx --since 1h", id)
	ends(t, exit.Done, "dead show "+id, "evt_")

	ends(t, exit.Done, "dead replay --tenant acme --watch")
	job := strings.Fields(ends(t, exit.Done, "jobs list", "done"))
	jobID := job[slices.IndexFunc(job, func(w string) bool { return strings.HasPrefix(w, "job_") })]
	eventually(t, "both delivered", func(context.Context) (bool, error) {
		return strings.Contains(ends(t, exit.Done, "-o json jobs show "+jobID), `"delivered": 2`), nil
	})

	ends(t, exit.Done, "rejected list", "evt_3")
	live(t, others)
	i.movesIn(t, page)

	discardsByID(t, ends(t, exit.Done, "-o json rejected list --tenant acme"))
	erased := strings.Fields(ends(t, exit.Done, "tenants erase acme"))
	contains(t, strings.Join(erased, " "), "dead_letters 2 ")
	left := strings.Fields(ends(t, exit.Done, "--dry-run tenants erase acme"))
	contains(t, strings.Join(left, " "), "dead_letters 0 ")
	if rejected := ends(t, exit.Done, "rejected list"); strings.Contains(rejected, "evt_3") {
		t.Errorf("still there: %s", rejected)
	}
}

// discardsByID discards the rejected events of a list. An erasure would take minutes for it, as a job.
func discardsByID(t *testing.T, list string) {
	t.Helper()
	var found api.RejectedList
	if err := json.Unmarshal([]byte(list), &found); err != nil || len(found.Data) == 0 {
		t.Fatalf("%v in %s", err, list)
	}
	for _, e := range found.Data {
		ends(t, exit.Done, "rejected discard "+e.MessageID, "discarded")
	}
}

// tailing runs `herald tail` until the test ends.
func tailing(t *testing.T) <-chan string {
	t.Helper()
	r, w := io.Pipe()
	lines := make(chan string, 100)
	go func() {
		on := &terminal.Terminal{In: strings.NewReader(""), Out: w, Err: io.Discard, Now: time.Now}
		line := []string{"herald", "--local", "tail", "--tenant", "acme", "--outcome", "retry"}
		commands.Run(t.Context(), line, on, stack.Connect)
		_ = w.Close()
	}()
	go func() {
		buffer := make([]byte, 4096) // a write is a line
		for n, err := r.Read(buffer); err == nil; n, err = r.Read(buffer) {
			lines <- string(buffer[:n])
		}
	}()
	return lines
}

// contains fails the test for each text that a command does not say.
func contains(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("does not say %q:\n%s", text, said)
		}
	}
}
