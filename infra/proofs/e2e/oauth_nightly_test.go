//go:build emulator

package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// tokenServer starts npm's oidc-provider, and returns its address.
func tokenServer(t *testing.T, stack statefile.State) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(root, ".tools/oauth/server.mjs"),
		stack.ReceiverCertFile, stack.ReceiverKeyFile)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// introspection is what a token server says of a token (RFC 7662).
type introspection struct {
	Active   bool   `json:"active"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
	Type     string `json:"token_type"`
}

// introspect asks the server about a token, as its client.
func introspect(t *testing.T, stack statefile.State, server, client, secret, access string) (said introspection) {
	t.Helper()
	authority, err := os.ReadFile(stack.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	trust := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	asker := http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
	form := url.Values{"token": {access}, "client_id": {client}, "client_secret": {secret}}
	res, err := asker.PostForm(server+"/token/introspection", form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.UnmarshalRead(res.Body, &said); err != nil {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return said
}

// Deliveries carry a token that the authorization server gave for the endpoint's credentials, by either method. With a
// wrong secret nothing is sent, and with the right one what waited arrives. It needs packages of npm, so that make
// oauth runs it at night.
func TestDeliveriesCarryATokenOfAnAuthorizationServer(t *testing.T) {
	stack, err := statefile.Read(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	server := tokenServer(t, stack)
	const posts = "client_secret_post"
	for _, method := range []string{"client_secret_basic", posts} {
		c := tenant(t)
		s := subscribe(t, c, "*")
		secret := "s3cret of " + method + ": %&+="
		set := func(secret string) {
			t.Helper()
			oauth := about{
				"token_url": server + "/token", "client_id": method, "client_secret": secret, "scope": "webhooks.write",
				"method": method,
			}
			if err := c.Call(t.Context(), http.MethodPatch, "/v1/webhooks/"+s.ID, about{"oauth2": oauth}, nil); err != nil {
				t.Fatal(err)
			}
		}
		set("wrong")
		publish(t, c, "user.created")
		time.Sleep(3 * time.Second)
		if n := len(s.Requests()); n > 0 {
			t.Errorf("%s: %d deliveries with a wrong secret", method, n)
		}
		set(secret)
		got := s.await(t, 1)
		genuine(t, got)
		access, bearer := strings.CutPrefix(got[0].Header.Get("Authorization"), "Bearer ")
		said := introspect(t, stack, server, posts, "s3cret of "+posts+": %&+=", access)
		if want := (introspection{true, method, "webhooks.write", "Bearer"}); !bearer || said != want {
			t.Errorf("%s: delivered with a token that is %+v", method, said)
		}
	}
}
