//go:build emulator

package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/published"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	local "github.com/herald-webhooks/herald/infra/local/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// TestThePublishedReceiversTakeRealDeliveries sends a few events to the receivers of all languages. The package
// infra/kit/published tests them with everything else.
func TestThePublishedReceiversTakeRealDeliveries(t *testing.T) {
	t.Parallel()
	for _, language := range published.Languages() {
		t.Run(language.Name, func(t *testing.T) {
			t.Parallel()
			c := tenant(t)
			s, receiver := subscribePublished(t, c, server, language, "*")
			types := event.Types()[:3]
			want := map[published.Work]int{}
			for _, name := range types {
				m := publish(t, c, name)
				want[published.Work{Event: name, Body: m.Payload()}] = 1
			}
			got := s.await(t, len(types))
			genuine(t, got)
			for _, r := range got {
				if r.Status != http.StatusOK {
					t.Errorf("%s was answered %d", r.Event, r.Status)
				}
			}
			processed := map[published.Work]int{}
			for _, w := range receiver.Done() {
				processed[w]++
			}
			if diff := cmp.Diff(want, processed); diff != "" {
				t.Errorf("processed (-want +got):\n%s\nit printed:\n%s", diff, receiver.Printed())
			}
		})
	}
}

// ownTypes is a stack with the types of infra/examples/identity.yaml, and with receivers of these types.
type ownTypes struct {
	client    *client.Client
	receivers *receiver.Server
	described *described
}

// TestAnAdoptersOwnTypesAreDeliveredAndVerified has an event of an own type verified in three languages, one rejected
// for its data, and both known to the API.
func TestAnAdoptersOwnTypesAreDeliveredAndVerified(t *testing.T) {
	t.Parallel()
	own := startOwnTypes(t)
	id := unique("tenant")
	key, err := own.client.IssueKey(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	c := own.client.As(id, key)
	subscriptions := map[string][]string{"go": {"user.signed_in"}, "node": {"*"}, "python": {"user.*", "session.*"}}
	var all []subscription
	var receivers []*published.Receiver
	for _, language := range published.Languages() {
		if events := subscriptions[language.Name]; events != nil {
			s, r := subscribePublished(t, c, own.receivers, language, events...)
			all, receivers = append(all, s), append(receivers, r)
		}
	}
	good := examples.Message{ID: unique("evt"), TenantID: id, Type: "user.signed_in",
		Data: jsontext.Value(`{ "user_id": "usr_zoë", "session_id": "ses_1", "method": "saml", "attempts": 2.0 }`)}
	bad := good
	bad.ID = unique("evt")
	bad.Data = jsontext.Value(`{"user_id":"usr_1","session_id":"ses_1","method":"guessed"}`)
	send(t, c, bad)
	send(t, c, good)
	for i, s := range all {
		got := s.await(t, 1)
		genuineBy(t, own.described, got)
		if len(got) != 1 || got[0].Status != http.StatusOK {
			t.Errorf("%d requests, the first answered %d", len(got), got[0].Status)
		}
		want := []published.Work{{Event: "user.signed_in", Body: good.Payload()}}
		if diff := cmp.Diff(want, receivers[i].Done()); diff != "" {
			t.Errorf("processed (-want +got):\n%s\nit printed:\n%s", diff, receivers[i].Printed())
		}
	}
	own.rejects(t, bad.ID)
	own.lists(t, c, "user.signed_in")
	if err := own.described.verdict(); err != nil {
		t.Error(err)
	}
}

// startOwnTypes builds the functions with the example catalogue, as make does for CATALOGUE. It starts a stack that
// rejects events outside the catalogue.
func startOwnTypes(t *testing.T) ownTypes {
	t.Helper()
	dir := t.TempDir()
	catalogue, functions := filepath.Join(dir, "catalogue"), filepath.Join(dir, "functions")
	golang(t, "run", "./infra/install/catalogue", "-own", "infra/examples/identity.yaml", "-out", catalogue)
	if err := os.CopyFS(functions, os.DirFS(filepath.Join(root, ".local", "functions"))); err != nil {
		t.Fatal(err, ": run make native")
	}
	for _, name := range []string{"fanout", "webhooks"} {
		golang(t, "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-overlay", filepath.Join(catalogue, "overlay.json"),
			"-o", filepath.Join(functions, name, "bootstrap"), "./functions/"+name)
	}
	stack, err := local.Start(t.Context(),
		local.Options{Root: root, Dir: dir, Parameters: []string{"SchemaCheck=reject"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	receivers, err := receiver.Start(stack.ReceiverCertFile, stack.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receivers.Close() })
	c := client.New(stack.State)
	d, err := describe(c, filepath.Join(catalogue, "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return ownTypes{c, receivers, d}
}

// golang runs the go command in the checkout.
func golang(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	execute(t, cmd)
}

// rejects waits until the event is kept with its reason.
func (o ownTypes) rejects(t *testing.T, eventID string) {
	t.Helper()
	var got api.RejectedList
	eventually(t, "the rejected event", func(ctx context.Context) (_ bool, err error) {
		got, err = client.Ask(ctx, o.client, api.ListRejected, api.RejectedRequest{Limit: new(10)})
		return len(got.Data) > 0, err
	})
	const want = "invalid event: data: /method: does not fulfil its schema (/properties/method/enum)"
	if len(got.Data) != 1 || got.Data[0].EventID != eventID || got.Data[0].Reason != want {
		t.Errorf("rejected: %+v, want %s: %s", got.Data, eventID, want)
	}
}

// lists fails the test unless the API has the type in its catalogue.
func (o ownTypes) lists(t *testing.T, c *client.Client, name string) {
	t.Helper()
	type eventType struct {
		Name   string         `json:"name"`
		Schema jsontext.Value `json:"schema"`
	}
	var answer struct {
		Data []eventType `json:"data"`
	}
	if err := c.Call(t.Context(), http.MethodGet, "/v1/event-types", nil, &answer); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(answer.Data, func(e eventType) bool { return e.Name == name && len(e.Schema) > 0 }) {
		t.Errorf("%s is not in %v", name, answer.Data)
	}
}
