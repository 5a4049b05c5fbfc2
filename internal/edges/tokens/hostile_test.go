package tokens_test

import (
	"context"
	"crypto/tls"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// newClient is a client that reaches 127.0.0.1.
func newClient(t *testing.T, ca *receivers.CA, target receivers.Target) *tokens.Client {
	t.Helper()
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: "127.0.0.1/32", AllowPorts: "1024-65535",
	})
	if err != nil {
		t.Fatal(err)
	}
	return tokens.NewClient(egress.New(egress.Config{
		Policy: policy, RootCAs: ca.Pool(), Resolver: target.Resolver,
	}), "Herald/test")
}

func grant(url string) token.Grant {
	return token.Grant{
		OAuth: endpoint.OAuth{TokenURL: url, ClientID: "herald", Method: endpoint.ClientSecretBasic}, Secret: "s3cret",
	}
}

// No hostile server gets a request that it should not, more than its time, or Herald to read on. None gives a token.
//
// Threat of a tenant: lets a hostile token server answer. Held by: egress's guard, no redirect, 5 s.
func TestClient_Ask_survivesHostileServers(t *testing.T) {
	const patience = 120 * time.Millisecond
	for _, c := range receivers.Hostile {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			ca := receivers.NewCA(t)
			target := c.Start(t, ca)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			access, why := newClient(t, ca, target).Ask(ctx, grant(target.URL))
			if access.Token != "" || why == "" {
				t.Errorf("a token of %d bytes, %q", len(access.Token), why)
			}
			if took := time.Since(began); took > 40*patience { // the machine may be busy
				t.Errorf("ended after %s", took)
			}
			if target.Seen.Sent() > receivers.Sent {
				t.Errorf("the server got rid of %d bytes", target.Seen.Sent())
			}
			if n := target.Seen.Requests(); n > 1 || c.Unsent && n > 0 {
				t.Errorf("%d requests", n)
			}
			if target.Trapped != nil && target.Trapped() != 0 {
				t.Errorf("%d connections where none may go", target.Trapped())
			}
		})
	}
}

// Names that lead to this machine, or to another address that is not public, are not dialled. Outside of the local
// stage 127.0.0.1 is such an address.
func TestClient_Ask_goesNowhereThatADeliveryMayNotGo(t *testing.T) {
	ca := receivers.NewCA(t)
	var seen atomic.Bool
	url := receivers.New(t, ca, nil)
	resolver := receivers.DNS(t, func(string, int) []netip.Addr {
		seen.Store(true)
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254")}
	})
	client := tokens.NewClient(egress.New(egress.Config{RootCAs: ca.Pool(), Resolver: resolver}), "Herald/test")
	for _, url := range []string{
		url, "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest/meta-data/", "https://10.0.0.1/",
		"https://id.localhost/", "https://localhost/", "https://receiver.test/", "https://8.8.8.8:22/",
		"http://example.com/", "ftp://example.com/", "https://user:pass@receiver.test/", "",
	} {
		if access, why := client.Ask(t.Context(), grant(url)); access.Token != "" || why != "token_unreachable" {
			t.Errorf("%s: %+v, %q", url, access, why)
		}
	}
	if !seen.Load() {
		t.Error("no name was looked up: the resolver is not egress's")
	}
}

func serverTLS(t *testing.T, ca *receivers.CA) *tls.Config {
	t.Helper()
	return &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})}}
}
