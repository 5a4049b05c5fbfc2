package egress_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// forms are URLs as a tenant may write them, each with the result of a POST while every name resolves to 127.0.0.1.
// None sends a packet. The URLs that may be stored have names. Only DNS can tell where a name leads, so Herald asks it
// at every dial.
var forms = map[string]struct {
	want   delivery.Reason
	stored bool
	urls   []string
}{
	"names": {delivery.ReasonBlockedAddress, true, []string{
		"https://sandbox.localdomain/", "https://metadata.google.internal/", "https://127.0.0.1.nip.test/",
		"https://receiver.test./", "https://b\u00fccher.test/", "https://xn--bcher-kva.test/",
	}},
	"a name with a port": {delivery.ReasonBlockedAddress, false, []string{"https://receiver.test:22/"}},
	"IPv4 addresses": {delivery.ReasonBlockedAddress, false, []string{
		"https://127.0.0.1/", "https://127.0.0.1:443/", "https://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
		"https://127.0.0.1./", "https://0.0.0.0/", "https://255.255.255.255/", "https://169.254.169.254/latest/meta-data/",
	}},
	"IPv4 addresses in full-width or circled digits, or with ideographic full stops": {
		delivery.ReasonBlockedAddress, false, []string{
			"https://\uff11\uff12\uff17.0.0.1/", "https://\u2460\u2461\u2466.0.0.1/", "https://127\u30020\u30020\u30021/",
		},
	},
	"IPv6 addresses": {delivery.ReasonBlockedAddress, false, []string{
		"https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/",
		"https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
		"https://[fd00:ec2::254]/latest/meta-data/",
	}},
	"other ports of public addresses": {delivery.ReasonBlockedPort, false, []string{
		"https://1.1.1.1:22/", "https://1.1.1.1:80/", "https://[2606:4700:4700::1111]:8443/",
	}},
	"numbers that some take for an address": {delivery.ReasonBlockedURL, false, []string{
		"https://127.1/", "https://127.0.1/", "https://2130706433/", "https://017700000001/", "https://0177.0.0.1/",
		"https://127.000.000.001/", "https://0/", "https://0x7f.1/", "https://0x7f000001/", "https://0x7f.0x0.0x0.0x1/",
		"https://0X7F.0.0.1/",
	}},
	"IPv6 addresses with a zone": {delivery.ReasonBlockedURL, false, []string{
		"https://[fe80::1%25lo]/", "https://[::1%25lo]/", "https://[fe80::1%25nosuchinterface]/",
	}},
	"local names, also in circled letters or with a soft hyphen": {delivery.ReasonBlockedURL, false, []string{
		"https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://intranet/",
		"https://app.localhost/", "https://hooks.acme.LOCALHOST./",
		"https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/", "https://loc\u00adalhost/",
	}},
	"users": {delivery.ReasonBlockedURL, false, []string{
		"https://user:pass@127.0.0.1/", "https://1.1.1.1@127.0.0.1/", "https://127.0.0.1:443@1.1.1.1/",
		"https://@1.1.1.1/", "https://127.0.0.1%2f@1.1.1.1/",
	}},
	"other schemes": {delivery.ReasonBlockedURL, false, []string{
		"http://1.1.1.1/", "ftp://1.1.1.1/", "file:///etc/passwd", "gopher://1.1.1.1/_POST", "unix:///var/run/docker.sock",
	}},
	"no URL of a host": {delivery.ReasonBlockedURL, false, []string{
		"//1.1.1.1/", "1.1.1.1", "https:1.1.1.1", "https:///path", "https://", "", "https://%31%32%37.0.0.1/",
		"https://[::1].receiver.test/", "https://[::1/", "https://1.1.1.1:port/", "https://127.0.0.1\t/",
		"https://127.0.0.1 .receiver.test/", "https://receiver.test\r\nHost: 127.0.0.1/",
	}},
}

// When a URL is written, the management API applies the dialler's policy.
func TestClient_Post_refusesEveryFormOfAURL(t *testing.T) {
	client := egress.New(egress.Config{
		ConnectTimeout: time.Minute, AttemptTimeout: time.Minute, // nothing here may wait for anything
		Resolver: receivers.DNS(t, receivers.Always("127.0.0.1")),
	})
	t.Cleanup(client.Close)
	writing := endpoint.URLPolicy{Addr: egress.Policy{}.Addr, Port: egress.Policy{}.Port}
	for _, form := range forms {
		for _, url := range form.urls {
			checkResponse(t, url, delivery.Response{Reason: form.want}, client.Post(t.Context(), to(url)))
			if stored, err := writing.Normalise(url); (err == nil) != form.stored {
				t.Errorf("%q: stored as %q with error %v, want it stored: %v", url, stored, err, form.stored)
			}
		}
	}
}

// TestMain names a proxy in the environment, which net/http reads once for a process. The proxy does not exist.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		if os.Setenv(name, "http://127.0.0.1:1") != nil || os.Setenv(strings.ToLower(name), "http://127.0.0.1:1") != nil {
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// The receiver has a name, because net/http uses no proxy for loopback addresses. The limits are the client's own.
func TestClient_Post_ignoresProxyVariables(t *testing.T) {
	ca := receivers.NewCA(t)
	target := strings.Replace(receivers.New(t, ca, nil), "127.0.0.1", receivers.Host, 1)
	set, err := http.ProxyFromEnvironment(httptest.NewRequest(http.MethodPost, target, nil))
	if err != nil || set == nil {
		t.Fatalf("the environment names proxy %v with error %v for %s, so nothing is tested", set, err, target)
	}
	client := newClient(t, ca, receivers.Target{Resolver: receivers.DNS(t, receivers.Always("127.0.0.1"))}, limits{})
	got := client.Post(t.Context(), to(target))
	checkResponse(t, target, delivery.Response{Status: http.StatusNoContent}, got)
}
