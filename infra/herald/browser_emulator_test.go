//go:build emulator

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

var write = flag.Bool("write", false, "write the pictures of infra/docs/images")

const markup = `<img src=x onerror="document.title='broken in'">`

// The console of a local stack in an incident, in a browser: what tenants and receivers wrote is text, each view
// passes axe-core in light and dark, the buttons do what they say.
func TestTheConsoleInABrowser(t *testing.T) {
	axe, err := os.ReadFile("../../.tools/openapi/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Abs("../docs/images")
	if err != nil {
		t.Fatal(err)
	}
	i := startStack(t)
	b := openBrowser(t, string(axe), images)
	address := b.console(t, connect)

	b.visit(t, "/", "No endpoint is in trouble")
	b.picture(t, "console-empty.png", "light")

	broken, gone := i.happens(t)
	for path, says := range i.views(t, broken) {
		t.Run(path, func(t *testing.T) {
			b.visit(t, path, says)
			b.isTextAndAccessible(t)
		})
	}
	b.visit(t, "/", "http_5xx")
	b.picture(t, "console-light.png", "light")

	t.Run("pause by clicks, resume by keys", func(t *testing.T) { b.pausesAndResumes(t, gone) })
	t.Run("somebody else was faster", func(t *testing.T) { b.pausesAgain(t, gone) })
	t.Run("replay of a cause", func(t *testing.T) { b.replaysACause(t, broken) })
	t.Run("a job whose endpoint was deleted meanwhile", func(t *testing.T) { b.replaysToNobody(t, i, gone) })
	t.Run("a page that nobody sees", func(t *testing.T) { b.restsWhileHidden(t) })
	t.Run("loading", func(t *testing.T) { b.leaves(t) })
	b.visit(t, "/traffic", "p99")
	b.picture(t, "console-traffic.png", "dark")
	t.Run("denied", func(t *testing.T) {
		b.console(t, readOnly)
		b.visit(t, "/endpoints?state=open", "open")
		b.press(t, `main td a`, `form[action="/control/pause"] button:disabled`)
		b.says(t, "you have no right to do that")
		b.isTextAndAccessible(t)
		b.picture(t, "console-denied.png", "light")
	})
	t.Run("a stack that has gone", func(t *testing.T) {
		b.address = address // the first console, beside which two others were started
		b.visit(t, "/", "Endpoints in trouble")
		i.Close()
		b.says(t, "the local stack has gone")
		b.picture(t, "console-broken.png", "dark")
	})
}

// happens lets one endpoint be down, and kills two deliveries to each of two others.
func (i incident) happens(t *testing.T) (broken, gone client.Endpoint) {
	t.Helper()
	i.answering(t, "mail", "user.created", 200)
	i.answering(t, "orders", "user.created", 503)
	broken, mended := i.answering(t, "crm", "user.deleted", 500)
	gone, _ = i.answering(t, "search", "user.deleted", 410)
	var events []examples.Message
	for n := range 30 { // as many as open a circuit at their second attempt
		data := jsontext.Value(fmt.Sprintf(`{"userId":"user_%d"}`, n))
		events = append(events, examples.Message{TenantID: "acme", Type: "user.created", Data: data})
	}
	if err := i.tenant.SendEvents(t.Context(), i.EventsQueueURL, events); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"evt_1", "evt_2"} {
		i.publish(t, examples.Message{ID: id, TenantID: "acme", Type: "user.deleted",
			Data: jsontext.Value(`{"userId":` + quoted(markup+id) + `}`)})
	}
	i.publish(t, examples.Message{ID: markup, TenantID: markup, Type: "user.deleted", Data: jsontext.Value("{}")})
	eventually(t, "an open circuit", func(ctx context.Context) (bool, error) {
		open, err := i.tenant.InState(ctx, "open")
		return len(open) == 1, err
	})
	i.dies(t, broken, 2)
	i.dies(t, gone, 2)
	mended.Fail()
	return broken, gone
}

// views are the pages after that, with what they say.
func (i incident) views(t *testing.T, broken client.Endpoint) map[string]string {
	t.Helper()
	id := i.dies(t, broken, 2)
	return map[string]string{
		"/": "http_5xx", "/traffic": "First attempts that succeeded", "/endpoints": "open",
		"/endpoint?tenant_id=acme&endpoint_id=" + broken.ID: id,
		"/deliveries?tenant_id=acme&event_id=evt_1":         "dead", "/delivery?delivery_id=" + id: "6 attempts",
		"/dead?status=dead": id, "/letter?delivery_id=" + id: "<img", "/rejected": "tenant_id",
		"/jobs": "No job", "/keys?tenant_id=acme": "demonstration", "/acts": "issue",
	}
}

func quoted(s string) string {
	text, _ := jsontext.AppendQuote(nil, s) // it is UTF-8
	return string(text)
}

// readOnly connects as a role that may look and do nothing.
func readOnly(ctx context.Context, t target) (stack, error) {
	s, err := connect(ctx, t)
	invoke := s.invoke
	s.may = func(_ context.Context, function string) error {
		if function == "inspect" {
			return nil
		}
		return s.explain("invoking "+function, &smithy.GenericAPIError{ // the emulator never denies
			Code: "AccessDeniedException", Message: "not authorized to perform: lambda:InvokeFunction",
		})
	}
	s.invoke = func(ctx context.Context, function string, payload []byte) ([]byte, error) {
		if err := s.may(ctx, function); err != nil {
			return nil, err
		}
		return invoke(ctx, function, payload)
	}
	return s, err
}
