//go:build emulator

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/internal/receiver"
)

// newcomer is an endpoint of the page about moving in, and its receiver.
type newcomer struct {
	line   map[string]any
	inbox  *receiver.Inbox
	secret string
}

// movesIn plays the page about moving in with ten endpoints, whose receivers verify with the keys that they had.
func (i incident) movesIn(t *testing.T, page string) {
	t.Helper()
	all := i.newcomers(t, page, 10)
	for n, command := range regexp.MustCompile(`(?m)^herald (.*)$`).FindAllStringSubmatch(page, -1) {
		out := ends(t, exitDone, command[1])
		if n < 2 && strings.Count(out, []string{"would_create", "created"}[n]) != len(all) {
			t.Errorf("herald %s: %s", command[1], out)
		}
	}
	if out := ends(t, exitDone, "endpoints import endpoints.jsonl"); strings.Count(out, "exists") != len(all) {
		t.Errorf("again: %s", out)
	}
	data := []byte(`{"userId":"user_1"}`)
	i.publish(t, examples.Message{ID: "evt_moved", TenantID: "acme", Type: "user.created", Data: data})
	for _, e := range all {
		got := receiver.Request{}
		eventually(t, "a delivery to "+e.inbox.URL, func(context.Context) (bool, error) {
			for _, got = range e.inbox.Requests() {
				if got.Event == "user.created" {
					return true, nil
				}
			}
			return false, nil
		})
		if err := e.verify(got); err != nil {
			t.Errorf("%s: %v", e.secret, err)
		}
	}
}

// newcomers writes the file of the page, with other URLs, keys and descriptions.
func (i incident) newcomers(t *testing.T, page string, n int) (all []newcomer) {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(page, -1)
	var file strings.Builder
	for k := range n {
		e := newcomer{inbox: i.server.Inbox(fmt.Sprint("/moved/", k))}
		if err := json.Unmarshal([]byte(lines[k%len(lines)]), &e.line); err != nil {
			t.Fatal(err)
		}
		ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		if err := e.inbox.Verify("not judged", ok); err != nil {
			t.Fatal(err)
		}
		e.secret = fmt.Sprint(e.line["secret"], k)
		if key := fmt.Sprintf("key %d\x00\xff of another sender", k); strings.HasPrefix(e.secret, "whsec_") {
			e.secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(key))
		}
		e.line["url"], e.line["secret"] = e.inbox.URL, e.secret
		if k >= len(lines) {
			e.line["description"] = fmt.Sprint("number ", k)
		}
		text, err := json.Marshal(e.line)
		if err != nil {
			t.Fatal(err)
		}
		file.WriteString(string(text) + "\n")
		all = append(all, e)
	}
	if err := os.WriteFile("endpoints.jsonl", []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return all
}

// verify judges a delivery as the old receiver did, with the header names that its library knows.
func (e newcomer) verify(r receiver.Request) error {
	read := standardwebhooks.NewWebhook
	if !strings.HasPrefix(e.secret, "whsec_") {
		read = func(secret string) (*standardwebhooks.Webhook, error) {
			return standardwebhooks.NewWebhookRaw([]byte(secret))
		}
	}
	wh, err := read(e.secret)
	if err != nil {
		return err
	}
	old := http.Header{}
	for _, name := range []string{"Id", "Timestamp", "Signature"} {
		old["Webhook-"+name] = r.Header["Wh-"+name]
	}
	return wh.Verify(r.Body, old)
}

// pageOf reads a document.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
