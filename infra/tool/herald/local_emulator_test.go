//go:build emulator

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	local "github.com/herald-webhooks/herald/infra/local/stack"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// incident is a local stack, found by --local from the folder that the test is in, and its receivers.
type incident struct {
	*local.Stack
	tenant *client.Client
	server *receiver.Server
}

func startStack(t *testing.T) incident {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".local", 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, ".local", "functions"), filepath.Join(".local", "functions")); err != nil {
		t.Fatal(err)
	}
	s, err := local.Start(t.Context(), local.Options{Root: root, Dir: ".local"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	server, err := receiver.Start(s.ReceiverCertFile, s.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	operator := client.New(s.State)
	key, err := operator.IssueKey(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	return incident{s, operator.As("acme", key), server}
}

var ok = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})

// answering registers a receiver that answers with the status until its inbox is told otherwise.
func (i incident) answering(t *testing.T, name, event string, status int) (client.Endpoint, *receiver.Inbox) {
	t.Helper()
	inbox := i.server.Inbox("/" + name)
	e, err := i.tenant.CreateEndpoint(t.Context(), receiver.Named(inbox.URL, name, "acme"), event)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{"description": name}
	if err := i.tenant.Call(t.Context(), http.MethodPatch, "/v1/webhooks/"+e.ID, described, nil); err != nil {
		t.Fatal(err)
	}
	if err := inbox.Verify(e.SigningSecret, ok); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK {
		inbox.Fail(slices.Repeat([]int{status}, 10_000)...)
	}
	return e, inbox
}

func (i incident) publish(t *testing.T, m examples.Message) {
	t.Helper()
	if err := i.tenant.SendEvents(t.Context(), i.tenant.EventsQueueURL, []examples.Message{m}); err != nil {
		t.Fatal(err)
	}
}

// dies waits until the endpoint has so many dead letters, and returns the id of one.
func (i incident) dies(t *testing.T, e client.Endpoint, n int) string {
	t.Helper()
	letters, err := i.tenant.AwaitDeath(t.Context(), patience.Limit(), e.ID, n)
	if err != nil {
		t.Fatal(err)
	}
	return letters[0].DeliveryID
}

func eventually(t *testing.T, what string, check client.Check) {
	t.Helper()
	if err := client.Eventually(t.Context(), patience.Limit(), what, check); err != nil {
		t.Fatal(err)
	}
}
