package egress_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
	"github.com/herald-webhooks/herald/internal/testkit/urls"
)

// A URL that may be stored is dialled. Any other is refused without a look-up. Every dial here ends at the policy.
func TestClient_Post_agreesWithTheManagementAPIAboutRealURLs(t *testing.T) {
	policy, err := egress.ParsePolicy(egress.Settings{DenyCIDRs: "0.0.0.0/0,::/0"})
	if err != nil {
		t.Fatal(err)
	}
	client := egress.New(egress.Config{
		Policy: policy, ConnectTimeout: time.Minute, AttemptTimeout: time.Minute,
		Resolver: receivers.DNS(t, receivers.Always("192.0.2.1")),
	})
	t.Cleanup(client.Close)
	dialled := map[string]bool{"https://10.0.0.1/": true, "https://[::1]/": true, "https://example.com:8443/": true}
	for _, row := range urls.Table(t) {
		want := delivery.ReasonBlockedURL
		if row.Stored != "" || dialled[row.URL] { // the dialler has other reasons for addresses and ports
			want = delivery.ReasonBlockedAddress
		}
		checkResponse(t, row.URL, delivery.Response{Reason: want}, client.Post(t.Context(), to(row.URL)))
	}
}

// The receiver gets the path and the query that are stored, to the letter, and nothing is decoded or cleaned up.
func TestClient_Post_writesPathAndQueryAsTheyAreStored(t *testing.T) {
	ca := receivers.NewCA(t)
	asked := make(chan string, 1)
	address := listen(t, ca, tls.VersionTLS13, func(c net.Conn) {
		in := bufio.NewReader(c)
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		head := io.MultiReader(strings.NewReader("POST / HTTP/1.1\r\n"), in)
		if req, err := http.ReadRequest(bufio.NewReader(head)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		asked <- strings.TrimSpace(line)
		_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	})
	client := newClient(t, ca, receivers.Target{}, longLimits)
	writing := endpoint.URLPolicy{Addr: loopbackPolicy().Addr, Port: loopbackPolicy().Port}
	draw := urls.Draw(address)
	rapid.Check(t, func(rt *rapid.T) {
		raw := draw.Draw(rt, "url")
		stored, err := writing.Normalise(raw)
		if err != nil {
			checkResponse(t, raw, delivery.Response{Reason: delivery.ReasonBlockedURL}, client.Post(t.Context(), to(raw)))
			return
		}
		want := "POST " + strings.TrimPrefix(stored, "https://"+address) + " HTTP/1.1"
		for _, url := range []string{stored, raw} {
			checkResponse(t, url, delivery.Response{Status: http.StatusNoContent}, client.Post(t.Context(), to(url)))
			if diff := cmp.Diff(want, <-asked); diff != "" {
				rt.Errorf("%q is asked for as (-want +got):\n%s", url, diff)
			}
		}
	})
}
