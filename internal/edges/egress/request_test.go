package egress_test

import (
	"bufio"
	"crypto/fips140"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// The second time on a kept connection, too, and without the cookie of the first answer.
func TestClient_Post_writesExactlyTheRequest(t *testing.T) {
	ca := receivers.NewCA(t)
	for _, size := range []int{0, 7, 15 << 10, 16 << 10, 17 << 10, 250_000} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			read := make(chan string, 1)
			address := listen(t, ca, tls.VersionTLS13, func(c net.Conn) {
				defer close(read)
				var said strings.Builder
				for in := bufio.NewReader(io.TeeReader(c, &said)); ; said.Reset() {
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					read <- said.String()
					_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nSet-Cookie: session=kept\r\n\r\n")
				}
			})
			client := newClient(t, ca, receivers.Target{}, longLimits)
			r := delivery.Request{
				TenantID: "tenant_1", URL: "https://" + address + "/a b?c=d", Body: []byte(strings.Repeat("b", size)),
				Header: []delivery.Field{{Name: "Wh-Id", Value: "msg_1"}, {Name: "User-Agent", Value: ""}},
			}
			got := client.Post(t.Context(), r)
			checkResponse(t, "a URL with spaces", delivery.Response{Reason: delivery.ReasonBlockedURL}, got)
			r.URL = "https://" + address + "/a%20b?c=d&f=%0d%0a\u00fc"
			want := "POST /a%20b?c=d&f=%0d%0a%C3%BC HTTP/1.1\r\nHost: " + address + "\r\nWh-Id: msg_1\r\nUser-Agent: \r\n" +
				"Content-Length: " + strconv.Itoa(size) + "\r\n\r\n" + string(r.Body)
			for range 2 {
				got := client.Post(t.Context(), r)
				checkResponse(t, "the POST", delivery.Response{Status: http.StatusNoContent}, got)
				if diff := cmp.Diff(want, <-read); diff != "" {
					t.Errorf("written (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// receivers.md lists these cipher suites, and fips.md those of FIPS 140-3. They are Go's choice, and a later Go may
// change it.
func TestClient_Post_offersTheCipherSuitesThatAreDocumented(t *testing.T) {
	ca := receivers.NewCA(t)
	offered := make(chan []string, 1)
	config := usual(t, ca)
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		var names []string
		for _, id := range hello.CipherSuites {
			names = append(names, tls.CipherSuiteName(id))
		}
		slices.Sort(names)
		offered <- append(names, hello.ServerName)
		return nil, nil
	}
	server, _ := countingServer(t, config, func(http.ResponseWriter, *http.Request) {})
	target := receivers.Target{Resolver: receivers.DNS(t, receivers.Always("127.0.0.1"))}
	client := newClient(t, ca, target, longLimits)
	url := strings.Replace(server.URL, "127.0.0.1", receivers.Host, 1)
	checkResponse(t, url, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), to(url)))
	want := []string{
		"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
		"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", receivers.Host,
	}
	if fips140.Enabled() {
		want = slices.DeleteFunc(want, func(name string) bool {
			return strings.Contains(name, "CHACHA20") || strings.Contains(name, "CBC")
		})
	}
	if diff := cmp.Diff(want, <-offered); diff != "" {
		t.Errorf("offered, and the name (-want +got):\n%s", diff)
	}
}

// A field that a receiver could read differently from Herald is not sent.
func TestClient_Post_refusesFieldsThatAreNoFields(t *testing.T) {
	address, trapped := receivers.Trap(t, "127.0.0.1:0")
	ca := receivers.NewCA(t)
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for _, field := range []delivery.Field{
		{Name: "", Value: "x"},
		{Name: "Wh Id", Value: "x"},
		{Name: "Wh-Id:", Value: "x"},
		{Name: "Wh-Id\r\nHost", Value: "x"},
		{Name: "Wh-\u00efd", Value: "x"},
		{Name: "Wh-Id", Value: "x\r\nHost: elsewhere.test"},
		{Name: "Wh-Id", Value: "x\nContent-Length: 0"},
		{Name: "Wh-Id", Value: "x\r\n\r\nPOST / HTTP/1.1"},
		{Name: "Wh-Id", Value: "x\x00"},
		{Name: "Wh-Id", Value: "x\x7f"},
		{Name: "Host", Value: "elsewhere.test"},
		{Name: "content-length", Value: "0"},
		{Name: "Transfer-Encoding", Value: "chunked"},
		{Name: "Connection", Value: "close"},
		{Name: "Expect", Value: "100-continue"},
		{Name: "Upgrade", Value: "h2c"},
		{Name: "TE", Value: "trailers"},
		{Name: "Content_Length", Value: "0"},
		{Name: "TRANSFER.ENCODING", Value: "chunked"},
	} {
		r := to("https://" + address + "/hook")
		r.Header = append(r.Header, field)
		got := client.Post(t.Context(), r)
		checkResponse(t, field.Name+": "+field.Value, delivery.Response{Reason: delivery.ReasonInternal}, got)
	}
	if trapped() != 0 {
		t.Errorf("%d connections", trapped())
	}
}

// A receiver may refuse a body without reading it, and then hang up or not.
func TestClient_Post_hearsAnAnswerBeforeItsBodyIsSent(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"
	for name, stays := range map[string]bool{"hangs up": false, "stays": true} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			defer close(ended)
			ca := receivers.NewCA(t)
			client := newClient(t, ca, receivers.Target{}, limits{connect: time.Minute, attempt: 4 * time.Second})
			r := to("https://" + listen(t, ca, tls.VersionTLS13, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 1))
				_, _ = io.WriteString(c, refusal)
				if stays {
					<-ended
				}
			}) + "/hook")
			r.Body = make([]byte, 16<<20) // more than both sockets' buffers take
			got := client.Post(t.Context(), r)
			checkResponse(t, "a large body", delivery.Response{Status: 413, Reason: delivery.ReasonHTTP4xx}, got)
		})
	}
}
