//go:build emulator

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// movesIn plays the page about moving in with ten endpoints. Their receivers verify with the secrets that they had, by
// the specification's signature and, where a library takes the secret, by the library's.
func (i incident) movesIn(t *testing.T, page string) {
	t.Helper()
	all := i.newcomers(t, page, 10)
	shown := []string{"", "would_create", "created", "acknowledged"}
	for n, command := range regexp.MustCompile(`(?m)^herald (.*)$`).FindAllStringSubmatch(page, -1) {
		if n == 0 { // the receivers are on this machine
			command[1] += " --ports 1024-65535 --cidrs 127.0.0.0/8 --per-host 50"
		}
		out := ends(t, exit.Done, command[1])
		if got := strings.Count(out, shown[n]); n > 0 && n < 3 && got != len(all) {
			t.Errorf("herald %s: %s", command[1], out)
		}
	}
	if out := ends(t, exit.Done, "endpoints import endpoints.jsonl"); strings.Count(out, "exists") != len(all) {
		t.Errorf("again: %s", out)
	}
	data := []byte(`{"userId":"user_1"}`)
	i.publish(t, examples.Message{ID: "evt_moved", TenantID: "acme", Type: "user.created", Data: data})
	for _, inbox := range all {
		eventually(t, "a delivery to "+inbox.URL, func(context.Context) (bool, error) {
			for _, got := range inbox.Requests() {
				if got.Event == "user.created" {
					return true, got.Standard
				}
			}
			return false, nil
		})
	}
}

// newcomers writes the file of the page, with other URLs, keys and descriptions, and returns the endpoints' receivers.
func (i incident) newcomers(t *testing.T, page string, n int) (all []*receiver.Inbox) {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(page, -1)
	var file strings.Builder
	for k := range n {
		inbox, line := i.server.Inbox(fmt.Sprint("/moved/", k)), map[string]any{}
		if err := json.Unmarshal([]byte(lines[k%len(lines)]), &line); err != nil {
			t.Fatal(err)
		}
		secret := fmt.Sprint("the literal text of a key", k)
		if k%2 == 0 {
			key := fmt.Appendf(nil, "key %d\x00\xff of another sender", k)
			secret = "whsec_" + base64.StdEncoding.EncodeToString(key)
		}
		line["url"], line["secret"] = inbox.URL, secret
		if k >= len(lines) {
			line["description"] = fmt.Sprint("number ", k)
		}
		text, err := json.Marshal(line)
		if err = errors.Join(err, inbox.Verify(secret, ok)); err != nil {
			t.Fatal(err)
		}
		file.WriteString(string(text) + "\n")
		all = append(all, inbox)
	}
	if err := os.WriteFile("svix.jsonl", []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return all
}

// pageOf reads a document.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
