package egress_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// The local stage's receivers have names below localhost, which lead to loopback without a question to DNS. Where the
// policy does not allow loopback, they lead nowhere.
func TestClient_Post_leadsNamesBelowLocalhostToLoopbackWhereThePolicyAllowsIt(t *testing.T) {
	ca := receivers.NewCA(t)
	cert := ca.Issue(t, receivers.Leaf{Hosts: []string{"*.acme.localhost"}})
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	server, _ := countingServer(t, config, func(http.ResponseWriter, *http.Request) {})
	elsewhere := receivers.DNS(t, receivers.Always("192.0.2.1"))
	client := newClient(t, ca, receivers.Target{Resolver: elsewhere}, longLimits)
	named := func(name string) string { return strings.Replace(server.URL, "127.0.0.1", name, 1) }
	for url, want := range map[string]delivery.Response{
		named("hooks.acme.localhost"):   {Status: http.StatusOK},
		named("hooks.globex.localhost"): {Reason: delivery.ReasonTLS}, // no certificate of this name
		named("localhost"):              {Reason: delivery.ReasonBlockedURL},
		named("acme.localhost.test"):    {Reason: delivery.ReasonBlockedAddress}, // as DNS says
		"https://a.localhost:80/":       {Reason: delivery.ReasonBlockedPort},
	} {
		checkResponse(t, url, want, client.Post(t.Context(), to(url)))
	}
	public := egress.New(egress.Config{RootCAs: ca.Pool(), Resolver: receivers.DNS(t, receivers.Always("127.0.0.1"))})
	t.Cleanup(public.Close)
	url := named("hooks.acme.localhost")
	checkResponse(t, url, delivery.Response{Reason: delivery.ReasonBlockedURL}, public.Post(t.Context(), to(url)))
}
