//go:build emulator

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// startConsole starts `herald --local console` with this way to connect, until the test ends. It returns the address
// that lets a browser in.
func startConsole(t *testing.T, connect commands.Connect) *url.URL {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r, w := io.Pipe()
	on := &terminal.Terminal{In: strings.NewReader(""), Out: w, Err: io.Discard, Now: time.Now}
	ended := make(chan int, 1)
	go func() {
		ended <- commands.Run(ctx, []string{"herald", "--local", "console"}, on, connect)
		_ = w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-ended)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// hasPages asks for the pages of the console without a browser: each shows what the stack has, and no fault.
func (i incident) hasPages(t *testing.T, e client.Endpoint, letter string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	u := startConsole(t, stack.Connect)
	u.Host = "127.0.0.1:" + u.Port() // only browsers resolve its other name
	visitor := &http.Client{Jar: jar}
	get := func(address, says string) {
		resp, err := visitor.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		page, err := io.ReadAll(resp.Body)
		faulty := strings.Contains(string(page), `role="alert"`) || strings.Contains(string(page), "not shown: ")
		if err != nil || resp.StatusCode != http.StatusOK || faulty || !strings.Contains(string(page), says) {
			t.Errorf("%s answers %s, %v, want %q in\n%s", resp.Request.URL, resp.Status, err, says, page)
		}
	}
	get(u.String(), "http_5xx")
	base := "http://" + u.Host + strings.TrimSuffix(u.Path, "/")
	for path, says := range map[string]string{
		"/traffic": "creation: complete", "/shares": "acme", "/chart?tenant_id=acme": "Draw attempts of acme",
		"/tail": "Follow all attempts", "/endpoints": e.ID, "/endpoint?tenant_id=acme&endpoint_id=" + e.ID: letter,
		"/tenant?tenant_id=acme&traffic=1": "share of attempts", "/tenant/acts?tenant_id=acme": "create",
		"/subscribers?event_type=user.deleted": e.ID, "/find?q=broken": e.ID,
		"/deliveries?tenant_id=acme&event_id=evt_1": "dead", "/delivery?delivery_id=" + letter: "6 attempts",
		"/event?tenant_id=acme&event_id=evt_1": "Replay what is dead of it", "/event?event_id=evt_3&rejected=1": "no.such",
		"/dead?status=dead": letter, "/letter?delivery_id=" + letter: "userId", "/rejected?event_id=evt_3": "no.such",
		"/jobs": "No job", "/keys?tenant_id=acme": "demonstration", "/acts": "issue",
		"/confirm?act=purge&endpoint_id=" + e.ID: "This cannot be undone",
	} {
		get(base+path, says)
	}
}
