//go:build emulator

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// customer is a tenant with an awkward id: a receiver that works, and another that fails until it is mended.
type customer struct {
	incident

	id             string
	good, bad      *receiver.Inbox
	failing        client.Endpoint
	letter, within string // its dead letter, and the description of the failing endpoint
}

// awkward are tenants as identity products call them. Each must get its own events and no other's, and each command
// must mean the tenant that it names. The contract of the stores tests more ids.
func (i incident) awkward(t *testing.T) (all []*customer) {
	t.Helper()
	for n, id := range []string{"auth0|42", "-rf"} {
		c := &customer{incident: i, id: id, within: fmt.Sprint("crm", n)}
		c.arrives(t)
		c.publish(t, examples.Message{ID: "evt_1", TenantID: id, Type: "user.deleted", Data: c.data()})
		c.publish(t, examples.Message{ID: "evt_2", TenantID: id, Type: "no.such", Data: jsontext.Value("{}")})
		all = append(all, c)
	}
	return all
}

// live has the tenants operated, from their deaths to their erasure.
func live(t *testing.T, all []*customer) {
	t.Helper()
	for _, c := range all {
		eventually(t, "a delivery to "+c.id, func(context.Context) (bool, error) { return len(c.good.Requests()) > 0, nil })
		c.letter = c.dies(t, c.failing, 1)
		c.isOperated(t)
	}
	for _, c := range all {
		c.isErased(t)
	}
}

// data is the tenant's event, which names the tenant.
func (c *customer) data() jsontext.Value { return jsontext.Value(`{"userId":"user_of ` + c.id + `"}`) }

// says runs a command on the local stack, and returns its output and its words. The test fails unless it ends well.
func (c *customer) says(t *testing.T, words ...string) (out, told string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now}
	line := slices.Concat([]string{"herald", "--local", "--yes"}, words)
	if code := commands.Run(t.Context(), line, on, stack.Connect); code != exit.Done {
		t.Errorf("%q: exit code %d: %s%s", line, code, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// arrives gives the tenant a key, by the command, and two endpoints.
func (c *customer) arrives(t *testing.T) {
	t.Helper()
	var key struct {
		Key string `json:"api_key"`
	}
	out, _ := c.says(t, "-o", "json", "keys", "issue", "--tenant", c.id, "--description", "its first")
	if err := json.Unmarshal([]byte(out), &key); err != nil {
		t.Fatal(err)
	}
	c.tenant = client.New(c.State).As(c.id, key.Key)
	_, c.good = c.answering(t, "good-"+c.within, "user.deleted", 200)
	c.failing, c.bad = c.answering(t, "bad-"+c.within, "user.deleted", 500)
	described := map[string]string{"description": c.within}
	if err := c.tenant.Call(t.Context(), "PATCH", "/v1/webhooks/"+c.failing.ID, described, nil); err != nil {
		t.Fatal(err)
	}
	contains(t, c.lists(t, "keys", "list", "--tenant", c.id), "its first")
}

// lists runs a command that lists, and returns what it lists as JSON.
func (c *customer) lists(t *testing.T, words ...string) string {
	t.Helper()
	out, _ := c.says(t, append([]string{"-o", "json"}, words...)...)
	return out
}

// isOperated looks at the tenant's failing endpoint, stops it, and replays its dead letter once it is mended.
func (c *customer) isOperated(t *testing.T) {
	t.Helper()
	for _, got := range c.good.Requests() {
		if !bytes.Contains(got.Body, c.data()) || got.Standard != nil {
			t.Errorf("%s got %s, %v", c.id, got.Body, got.Standard)
		}
	}
	place := c.id + "/" + c.within
	contains(t, c.lists(t, "endpoints", "list", "--tenant", c.id, "--limit", "1"), c.within)
	contains(t, c.lists(t, "dead", "list", "--tenant", c.id), c.letter)
	contains(t, c.lists(t, "rejected", "list", "--tenant", c.id), "evt_2")
	contains(t, c.lists(t, "deliveries", "show", c.letter), `"`+c.id+`"`)
	c.takesSuggestions(t)
	c.says(t, "endpoints", "pause", "--reason", "ticket", "--", place)
	_, told := c.says(t, "endpoints", "show", "--", place)
	contains(t, told, "next: herald --local endpoints resume ")
	c.says(t, "endpoints", "resume", "--", place)
	c.says(t, "tenants", "pause", "--reason", "ticket", "--", c.id)
	c.says(t, "tenants", "resume", "--", c.id)
	c.bad.Fail()
	c.says(t, "dead", "replay", "--tenant", c.id, "--watch")
	eventually(t, "the replay to "+c.id, func(context.Context) (bool, error) {
		all := c.bad.Requests()
		return len(all) > 0 && all[len(all)-1].Status == 200, nil
	})
}

var suggestion = regexp.MustCompile(`(?m)^next: herald --local (.*)$`)

// takesSuggestions runs what a look at the endpoint suggests, as sh reads it, without doing it.
func (c *customer) takesSuggestions(t *testing.T) {
	t.Helper()
	_, told := c.says(t, "endpoints", "show", "--", c.id+"/"+c.within)
	found := suggestion.FindAllStringSubmatch(told, -1)
	if len(found) == 0 {
		t.Errorf("nothing is suggested: %s", told)
	}
	for _, line := range found {
		words, err := exec.Command("sh", "-c", `printf '%s\n' `+line[1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		c.says(t, append([]string{"--dry-run"}, strings.Split(strings.TrimSpace(string(words)), "\n")...)...)
	}
}

// isErased erases the tenant: of the others nothing is gone.
func (c *customer) isErased(t *testing.T) {
	t.Helper()
	_, told := c.says(t, "--dry-run", "rejected", "discard", "--tenant", c.id)
	contains(t, told, "1 selected, 1 can be done")
	discardsByID(t, c.lists(t, "rejected", "list", "--tenant", c.id))
	out, _ := c.says(t, "tenants", "erase", "--", c.id)
	contains(t, strings.Join(strings.Fields(out), " "), "api_keys 1 ", "endpoints 2 ", "dead_letters 1 ")
	left, _ := c.says(t, "--dry-run", "tenants", "erase", "--", c.id)
	contains(t, strings.Join(strings.Fields(left), " "), "api_keys 0 ", "endpoints 0 ", "dead_letters 0 ", "marks 0 ")
}
