//go:build emulator

package e2e

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
)

// A reader of the functions' logs learns the host of an endpoint, and nothing that opens or repeats a delivery: neither
// while an endpoint is made and changed, nor of failures and successes.
//
// Threat of the account: reads secrets, bodies or URLs in logs. Held by: never logged, except a URL's host and digest.
func TestTheFunctionsLogNoSecretBodyOrURL(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	query, value, body := unique("query-marker"), unique("header-marker"), unique("user_marker")
	change := about{"url": s.Inbox.URL + "?token=" + query, "headers": about{"Authorization": "Bearer " + value}}
	if err := c.Call(t.Context(), http.MethodPatch, "/v1/webhooks/"+s.ID, change, nil); err != nil {
		t.Fatal(err)
	}
	s.Fail(http.StatusInternalServerError)
	send(t, c, examples.Message{
		ID: unique("evt"), TenantID: c.TenantID, Type: "user.created", Data: jsontext.Value(`{"userId":"` + body + `"}`),
	})
	ids := s.await(t, 2)[0].Header["Wh-Id"]
	if s.Requests()[0].Header.Get("Authorization") != "Bearer "+value {
		t.Fatalf("the delivery had %v", s.Requests()[0].Header)
	}
	var logs []byte
	eventually(t, "lines about "+ids[0], func(context.Context) (bool, error) {
		var err error
		logs, err = functionLogs()
		return bytes.Contains(logs, []byte(ids[0])), err
	})
	for what, secret := range map[string]string{
		"the secret": strings.TrimPrefix(s.SigningSecret, "whsec_"), "the API key": c.APIKey,
		"the URL's query": query, "a header": value, "the body": body,
	} {
		if at := bytes.Index(logs, []byte(secret)); at >= 0 {
			t.Errorf("%s is in a log: %s", what, logs[max(at-200, 0):min(at+200, len(logs))])
		}
	}
}

// functionLogs are the logs of all functions so far. Those of the emulator, which has the messages, are no function's.
func functionLogs() (all []byte, err error) {
	functions, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, err
	}
	for _, function := range functions {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(stateFile), "logs", function.Name()+".log"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}
