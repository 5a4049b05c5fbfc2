package egress_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// A receiver is reached by the addresses that DNS gave, even if other answers of DNS never come. The resolver alone
// would wait five seconds before it asks again, which is all the time that a connection has.
func TestClient_Post_needsNoAnswerToEveryQuery(t *testing.T) {
	const a, aaaa = dnsmessage.TypeA, dnsmessage.TypeAAAA
	for name, lost := range map[string]func(queried dnsmessage.Type, nth int) bool{
		"AAAA is never answered":  func(queried dnsmessage.Type, _ int) bool { return queried == aaaa },
		"the first query for A":   func(queried dnsmessage.Type, nth int) bool { return queried == a && nth == 0 },
		"the first query of each": func(_ dnsmessage.Type, nth int) bool { return nth == 0 },
		"no query":                func(dnsmessage.Type, int) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			cert := ca.Issue(t, receivers.Leaf{Hosts: []string{"receiver.test"}})
			config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
			server, _ := countingServer(t, config, func(http.ResponseWriter, *http.Request) {})
			resolver := receivers.LossyDNS(t, receivers.Always("127.0.0.1"), lost)
			limit := limits{connect: 5 * time.Second, attempt: time.Minute}
			client := newClient(t, ca, receivers.Target{Resolver: resolver}, limit)
			url := strings.Replace(server.URL, "127.0.0.1", "receiver.test", 1)
			checkResponse(t, url, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), to(url)))
		})
	}
}

// A name about which DNS says nothing is a failure of DNS, after the time that a connection has.
func TestClient_Post_ofANameThatDNSNeverAnswers(t *testing.T) {
	ca := receivers.NewCA(t)
	never := receivers.LossyDNS(t, receivers.Always("127.0.0.1"), func(dnsmessage.Type, int) bool { return true })
	limit := limits{connect: 1500 * time.Millisecond, attempt: time.Minute}
	client := newClient(t, ca, receivers.Target{Resolver: never}, limit)
	const url = "https://receiver.test:4443/"
	checkResponse(t, url, delivery.Response{Reason: delivery.ReasonDNS}, client.Post(t.Context(), to(url)))
}

// A receiver that wants a client certificate says so by an alert. In TLS 1.3 the alert comes only after our side of the
// handshake has ended, while the answer is awaited.
func TestClient_Post_toAReceiverThatWantsACertificateOfOurs(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for name, wanted := range map[string]tls.ClientAuthType{
			"any": tls.RequireAnyClientCert, "a valid one": tls.RequireAndVerifyClientCert,
		} {
			t.Run(tls.VersionName(version)+" "+name, func(t *testing.T) {
				ca := receivers.NewCA(t)
				cert := ca.Issue(t, receivers.Leaf{})
				config := &tls.Config{
					Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version, ClientAuth: wanted,
				}
				server, _ := countingServer(t, config, func(http.ResponseWriter, *http.Request) {})
				got := newClient(t, ca, receivers.Target{}, longLimits).Post(t.Context(), to(server.URL))
				checkResponse(t, server.URL, delivery.Response{Reason: delivery.ReasonTLSHandshake}, got)
			})
		}
	}
}
