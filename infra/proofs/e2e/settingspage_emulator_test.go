//go:build emulator

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/settings"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// settingsPage is the settings page of one tenant, and a browser that it has let in.
type settingsPage struct {
	base    string // with the path, without a slash at its end
	origin  string
	folder  string // of the sealed keys
	log     *transcript
	browser *http.Client

	mu   sync.Mutex
	seen []string // the texts and headers of all answers
}

// transcript is a log that a process writes and a test reads.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// openSettings starts the page for a tenant, by the address that the demonstration prints.
func openSettings(t *testing.T, c *client.Client) *settingsPage {
	t.Helper()
	p := &settingsPage{folder: filepath.Join(t.TempDir(), "keys"), log: &transcript{}}
	served, address, err := settings.Page{Root: root, Keys: p.folder, Log: p.log}.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err, p.log)
	}
	t.Cleanup(served.Kill)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	// Its own name leads to loopback in browsers, and not in every resolver.
	p.origin = "http://127.0.0.1:" + u.Port()
	p.base = p.origin + strings.TrimSuffix(u.Path, "/")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.browser = &http.Client{Jar: jar}
	if status, _ := p.send(t, http.MethodGet, "/?"+u.RawQuery, "", nil); status != http.StatusOK {
		t.Fatalf("the printed address: %d", status)
	}
	return p
}

// send is a request of the page, unless change makes it another's.
func (p *settingsPage) send(
	t *testing.T, method, path, body string, change func(*http.Request),
) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Origin", p.origin)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if change != nil {
		change(req)
	}
	resp, err := p.browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	headers, _ := json.Marshal(resp.Header)
	p.mu.Lock()
	p.seen = append(p.seen, string(headers)+string(text))
	p.mu.Unlock()
	_ = json.Unmarshal(text, &answer) // a page's file is no JSON
	return resp.StatusCode, answer
}

// does sends a request that has to be answered so, and returns a text of the answer.
func (p *settingsPage) does(t *testing.T, method, path, body string, want int, field string) string {
	t.Helper()
	status, answer := p.send(t, method, path, body, nil)
	if status != want {
		t.Fatalf("%s %s: %d %v, want %d", method, path, status, answer, want)
	}
	text, _ := answer[field].(string)
	return text
}

// keysOfTenant are the API keys that a tenant has.
func keysOfTenant(t *testing.T, c *client.Client) []api.Key {
	t.Helper()
	return get(t, api.ListKeys, api.KeysRequest{TenantID: c.TenantID}).Data
}
