package egress_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// forms are URLs as a tenant may write them, and what becomes of a POST to each where every
// name resolves to 127.0.0.1. None sends a packet.
var forms = []struct {
	url  string
	want delivery.Reason
}{
	{"https://127.0.0.1/", delivery.ReasonBlockedAddress},
	{"https://127.0.0.1:443/", delivery.ReasonBlockedAddress},
	{"https://127.0.0.1:9001/2018-06-01/runtime/invocation/next", delivery.ReasonBlockedAddress},
	{"https://127.1/", delivery.ReasonBlockedURL},
	{"https://127.0.1/", delivery.ReasonBlockedURL},
	{"https://2130706433/", delivery.ReasonBlockedURL},
	{"https://017700000001/", delivery.ReasonBlockedURL},
	{"https://0177.0.0.1/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1./", delivery.ReasonBlockedAddress},
	{"https://127.000.000.001/", delivery.ReasonBlockedURL},
	{"https://0/", delivery.ReasonBlockedURL},
	{"https://0x7f.1/", delivery.ReasonBlockedURL},
	{"https://0x7f000001/", delivery.ReasonBlockedURL},
	{"https://0x7f.0x0.0x0.0x1/", delivery.ReasonBlockedURL},
	{"https://0X7F.0.0.1/", delivery.ReasonBlockedURL},
	{"https://0.0.0.0/", delivery.ReasonBlockedAddress},
	{"https://255.255.255.255/", delivery.ReasonBlockedAddress},
	{"https://169.254.169.254/latest/meta-data/", delivery.ReasonBlockedAddress},
	{"https://[::1]/", delivery.ReasonBlockedAddress},
	{"https://[0:0:0:0:0:0:0:1]/", delivery.ReasonBlockedAddress},
	{"https://[::]/", delivery.ReasonBlockedAddress},
	{"https://[::ffff:127.0.0.1]/", delivery.ReasonBlockedAddress},
	{"https://[::ffff:7f00:1]/", delivery.ReasonBlockedAddress},
	{"https://[::127.0.0.1]/", delivery.ReasonBlockedAddress},
	{"https://[64:ff9b::7f00:1]/", delivery.ReasonBlockedAddress},
	{"https://[2002:7f00:1::]/", delivery.ReasonBlockedAddress},
	{"https://[fd00:ec2::254]/latest/meta-data/", delivery.ReasonBlockedAddress},
	{"https://[fe80::1%25lo]/", delivery.ReasonBlockedURL},
	{"https://[::1%25lo]/", delivery.ReasonBlockedURL},
	{"https://[fe80::1%25nosuchinterface]/", delivery.ReasonBlockedURL},
	{"https://localhost/", delivery.ReasonBlockedURL},
	{"https://LOCALHOST/", delivery.ReasonBlockedURL},
	{"https://localhost./", delivery.ReasonBlockedURL},
	{"https://sandbox.localdomain/", delivery.ReasonBlockedAddress},
	{"https://metadata.google.internal/", delivery.ReasonBlockedAddress},
	{"https://intranet/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1.nip.test/", delivery.ReasonBlockedAddress},
	{"https://receiver.test./", delivery.ReasonBlockedAddress},
	{"https://b\u00fccher.test/", delivery.ReasonBlockedAddress},
	{"https://xn--bcher-kva.test/", delivery.ReasonBlockedAddress},
	// circled letters
	{"https://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/", delivery.ReasonBlockedURL},
	// full-width digits
	{"https://\uff11\uff12\uff17.0.0.1/", delivery.ReasonBlockedAddress},
	// ideographic full stops
	{"https://127\u30020\u30020\u30021/", delivery.ReasonBlockedAddress},
	// circled digits
	{"https://\u2460\u2461\u2466.0.0.1/", delivery.ReasonBlockedAddress},
	// a soft hyphen
	{"https://loc\u00adalhost/", delivery.ReasonBlockedURL},
	{"https://receiver.test:22/", delivery.ReasonBlockedAddress},
	{"https://1.1.1.1:22/", delivery.ReasonBlockedPort},
	{"https://1.1.1.1:80/", delivery.ReasonBlockedPort},
	{"https://[2606:4700:4700::1111]:8443/", delivery.ReasonBlockedPort},
	{"https://user:pass@127.0.0.1/", delivery.ReasonBlockedURL},
	{"https://1.1.1.1@127.0.0.1/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1:443@1.1.1.1/", delivery.ReasonBlockedURL},
	{"https://@1.1.1.1/", delivery.ReasonBlockedURL},
	{"http://1.1.1.1/", delivery.ReasonBlockedURL},
	{"ftp://1.1.1.1/", delivery.ReasonBlockedURL},
	{"file:///etc/passwd", delivery.ReasonBlockedURL},
	{"gopher://1.1.1.1/_POST", delivery.ReasonBlockedURL},
	{"unix:///var/run/docker.sock", delivery.ReasonBlockedURL},
	{"//1.1.1.1/", delivery.ReasonBlockedURL},
	{"1.1.1.1", delivery.ReasonBlockedURL},
	{"https:1.1.1.1", delivery.ReasonBlockedURL},
	{"https:///path", delivery.ReasonBlockedURL},
	{"https://", delivery.ReasonBlockedURL},
	{"", delivery.ReasonBlockedURL},
	{"https://%31%32%37.0.0.1/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1%2f@1.1.1.1/", delivery.ReasonBlockedURL},
	{"https://[::1].receiver.test/", delivery.ReasonBlockedURL},
	{"https://[::1/", delivery.ReasonBlockedURL},
	{"https://1.1.1.1:port/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1\t/", delivery.ReasonBlockedURL},
	{"https://127.0.0.1 .receiver.test/", delivery.ReasonBlockedURL},
	{"https://receiver.test\r\nHost: 127.0.0.1/", delivery.ReasonBlockedURL},
}

func TestClient_Post_refusesEveryFormOfAURL(t *testing.T) {
	client := egress.New(egress.Config{
		ConnectTimeout: time.Minute, AttemptTimeout: time.Minute, // nothing here may wait for anything
		Resolver: receivers.DNS(t, receivers.Always("127.0.0.1")),
	})
	t.Cleanup(client.Close)
	for _, form := range forms {
		got := client.Post(t.Context(), to(form.url))
		checkResponse(t, form.url, delivery.Response{Reason: form.want}, got)
	}
}

// TestMain names a proxy in the environment, which net/http reads once for a process. Nobody listens there.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		if os.Setenv(name, "http://127.0.0.1:1") != nil || os.Setenv(strings.ToLower(name), "http://127.0.0.1:1") != nil {
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// The receiver has a name, because net/http uses no proxy for loopback addresses.
func TestClient_Post_ignoresProxyVariables(t *testing.T) {
	ca := receivers.NewCA(t)
	target := strings.Replace(receivers.New(t, ca, nil), "127.0.0.1", receivers.Host, 1)
	set, err := http.ProxyFromEnvironment(httptest.NewRequest(http.MethodPost, target, nil))
	if err != nil || set == nil {
		t.Fatalf("the environment names proxy %v with error %v for %s, so nothing is tested", set, err, target)
	}
	client := newClient(ca, receivers.Target{Resolver: receivers.DNS(t, receivers.Always("127.0.0.1"))}, longLimits)
	t.Cleanup(client.Close)
	got := client.Post(t.Context(), to(target))
	checkResponse(t, target, delivery.Response{Status: http.StatusNoContent}, got)
}

func TestClient_Post_sendsNothingButTheDelivery(t *testing.T) {
	ca := receivers.NewCA(t)
	type sent struct {
		Method, Body string
		Header       http.Header
	}
	var got []sent // by a request after the other
	url := receivers.New(t, ca, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, sent{r.Method, string(body), r.Header})
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "kept"})
	})
	client := newClient(ca, receivers.Target{}, longLimits)
	t.Cleanup(client.Close)
	for range 2 {
		client.Post(t.Context(), delivery.Request{
			TenantID: "tenant_1", URL: url, Body: []byte(`{"a":1}`),
			Header: []delivery.Field{{Name: "User-Agent", Value: "Herald/test"}, {Name: "Wh-Id", Value: "msg_1"}},
		})
	}
	want := sent{http.MethodPost, `{"a":1}`, http.Header{
		"User-Agent": {"Herald/test"}, "Wh-Id": {"msg_1"}, "Content-Length": {"7"},
	}}
	if diff := cmp.Diff([]sent{want, want}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
