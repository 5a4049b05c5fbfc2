package egress_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// stale is an answer to no request.
const stale = "HTTP/1.1 599 Stale\r\nContent-Length: 0\r\n\r\n"

// statuses are final ones, with their reasons. None is below 100, which HTTP does not know: such an answer has failed.
var statuses = map[string]delivery.Response{
	"200": {Status: 200}, "204": {Status: 204}, "299": {Status: 299},
	"301": {Status: 301, Reason: delivery.ReasonHTTP3xx}, "410": {Status: 410, Reason: delivery.ReasonHTTP4xx},
	"429": {Status: 429, Reason: delivery.ReasonHTTP429}, "500": {Status: 500, Reason: delivery.ReasonHTTP5xx},
	"503": {Status: 503, Reason: delivery.ReasonHTTP5xx}, "600": {Status: 600, Reason: delivery.ReasonHTTP5xx},
	"999": {Status: 999, Reason: delivery.ReasonHTTP5xx}, "099": {Status: 99, Reason: delivery.ReasonHTTP5xx},
}

// scripted is a receiver that answers the path /N with the Nth text, and then says another on the same connection. On
// a new connection it answers any other path with 204.
func scripted(t *testing.T, ca *receivers.CA, texts []string, then func(c net.Conn)) (base string) {
	t.Helper()
	return "https://" + listen(t, ca, tls.VersionTLS13, func(c net.Conn) {
		answer := "HTTP/1.1 204 No Content\r\n\r\n"
		for in := bufio.NewReader(c); ; {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			n, err := strconv.Atoi(req.URL.Path[1:])
			if err != nil {
				_, _ = io.WriteString(c, answer)
				continue
			}
			answer = stale
			_, _ = io.WriteString(c, texts[n])
			then(c)
		}
	})
}

func stays(net.Conn) {}

func hangsUp(c net.Conn) { _ = c.Close() }

// The date of an answer is that of its receiver's clock. A Retry-After may be counted from it.
func TestClient_Post_hasTheDateOfARetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Fri, 01 May 1998 12:00:00 GMT"
	want := statuses["503"]
	want.RetryAfter, want.Date = "120", date
	rows := []struct {
		headers string
		want    delivery.Response
	}{
		{"Date: " + date + "\r\nRetry-After: 120\r\n", want}, {"Retry-After: 120\r\nDATE:" + date + " \r\n", want},
		{"Date: " + date + "\r\nRetry-After: 120\r\nDate: later\r\n", want}, {"Date: " + date + "\r\n", statuses["503"]},
	}
	var texts []string
	for _, row := range rows {
		texts = append(texts, "HTTP/1.1 503 Status\r\n"+row.headers+"Content-Length: 0\r\n\r\n")
	}
	ca := receivers.NewCA(t)
	base := scripted(t, ca, texts, stays)
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for n, row := range rows {
		checkResponse(t, row.headers, row.want, client.Post(t.Context(), to(fmt.Sprint(base, "/", n))))
	}
}

// Whatever is wrong with an answer's form, its status decides, its Retry-After counts, and its connection serves no
// other delivery.
func TestClient_Post_decidesByTheStatusWhateverTheFormOfTheHeaders(t *testing.T) {
	type row struct {
		name string
		want delivery.Response
	}
	var texts []string
	var rows []row
	for status, want := range statuses {
		want.RetryAfter = "120"
		for n, f := range receivers.Malformed {
			lines := f.Lines + "Retry-After: 120\r\nRetry-After: 7\r\n"
			if n%2 == 0 && !strings.HasPrefix(f.Lines, " ") {
				lines = "retry-after:120 \r\n" + f.Lines
			}
			texts = append(texts, "HTTP/1.1 "+status+" Status\r\n"+lines+"\r\n")
			rows = append(rows, row{status + " with " + f.Name, want})
		}
	}
	ca := receivers.NewCA(t)
	base := scripted(t, ca, texts, stays)
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for n, row := range rows {
		checkResponse(t, row.name, row.want, client.Post(t.Context(), to(fmt.Sprint(base, "/", n))))
		next := client.Post(t.Context(), to(base+"/next"))
		checkResponse(t, "the request after "+row.name, delivery.Response{Status: 204}, next)
	}
}

func TestClient_Post_readsTheStatusOfEveryStatusLine(t *testing.T) {
	fine := delivery.Response{Status: 200, RetryAfter: "7"}
	none := delivery.Response{Reason: delivery.ReasonProtocol}
	texts := map[string]delivery.Response{
		"HTTP/1.1 200\r\n": fine, "HTTP/1.1 200 \r\n": fine, "HTTP/1.1 200 Great \xff\r\n": fine,
		"HTTP/1.1  200 OK\r\n": fine, "HTTP/1.1 200\tOK\r\n": fine, "HTTP/1.1\t200 OK\r\n": fine,
		"HTTP/1.0 200 OK\r\n": fine, "HTTP/2 200\r\n": fine, "HTTP/2.0 200 OK\r\n": fine, "http/1.1 200 ok\r\n": fine,
		"HTTP/1.1 200 OK\n": fine, "HTTP/1.1 200 OK\r\r\n": fine, "HTTP/1.10 200 OK\r\n": fine,
		"HTTP/1.1 000 Zero\r\n": none, "HTTP/1.1 abc OK\r\n": none, "HTTP/1.1 20 OK\r\n": none,
		"HTTP/1.1 2000 OK\r\n": none, "HTTP/1.1 +20 OK\r\n": none, "HTTP/1.1 -20 OK\r\n": none, "HTTP/1.1 2x0 OK\r\n": none,
		"HTTP/1.1 200OK\r\n": none, "HTTP/1.1\r\n": none, "HTTP/1.1 \r\n": none, "HTTP/ 200 OK\r\n": none,
		"200 OK\r\n": none, "220 mail.example ESMTP\r\n": none, "\r\n": none, "SHTTP/1.1 200 OK\r\n": none,
		"\r\nHTTP/1.1 200 OK\r\n": none, "HTTP/1.1 \u0662\u0660\u0660 OK\r\n": none, "XHTTP/1.1 200 OK\r\n": none,
	}
	var all, lines []string
	for line := range texts {
		lines = append(lines, line)
		all = append(all, line+"Retry-After: 7\r\n\r\n")
	}
	ca := receivers.NewCA(t)
	base := scripted(t, ca, all, stays)
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for n, line := range lines {
		got := client.Post(t.Context(), to(fmt.Sprint(base, "/", n)))
		checkResponse(t, strconv.Quote(line), texts[line], got)
	}
}

// A receiver may have crashed in the middle of endless headers, so a 2xx with such headers does not count. Any other
// status is a failure either way, and keeps its reason.
func TestClient_Post_keepsTheStatusOfAFailureWhoseHeadersHaveNoEnd(t *testing.T) {
	short := limits{connect: time.Minute, attempt: 6 * time.Second}
	for name, row := range map[string]struct {
		limits
		reason delivery.Reason // of a 2xx
		then   func(net.Conn)
	}{
		"are cut off":            {longLimits, delivery.ReasonProtocol, hangsUp},
		"are cut off by a reset": {longLimits, delivery.ReasonProtocol, resets},
		"stall":                  {short, delivery.ReasonTimeout, stays},
		"are too large": {longLimits, delivery.ReasonHeaderTooLarge, func(c net.Conn) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, strings.Repeat("b", 4096))
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := receivers.NewCA(t)
			var texts []string
			for status := range statuses {
				for _, e := range endless {
					texts = append(texts, "HTTP/1.1 "+status+" Status\r\n"+e.lines)
				}
			}
			base := scripted(t, ca, texts, row.then)
			client := newClient(t, ca, receivers.Target{}, row.limits)
			var wait sync.WaitGroup
			for n, text := range texts {
				want, e := statuses[text[9:12]], endless[n%len(endless)]
				if want.RetryAfter = e.retryAfter; want.Reason == "" {
					want = delivery.Response{Reason: row.reason}
				}
				wait.Go(func() {
					checkResponse(t, strconv.Quote(text), want, client.Post(t.Context(), to(fmt.Sprint(base, "/", n))))
					next := client.Post(t.Context(), to(base+"/next"))
					checkResponse(t, "the next request", delivery.Response{Status: 204}, next)
				})
			}
			wait.Wait()
		})
	}
}

// endless are answers without an end, from a status line that has one.
var endless = []struct{ lines, retryAfter string }{
	{"", ""}, {"Retry-After: 120\r\nRetry-After: 7\r\n", "120"}, {"bad\r\nRetry-After: 120\r\nX: y", "120"},
	{"X: y\r\nRetry-After: 12", ""},
}

func resets(c net.Conn) {
	tcp := c.(*tls.Conn).NetConn().(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
}

// No 1xx decides, however it ends.
func TestClient_Post_takesNo1xxForAnAnswer(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want delivery.Reason
		then func(net.Conn)
		limits
	}{
		"alone, and hangs up":      {"HTTP/1.1 100 Continue\r\n\r\n", delivery.ReasonProtocol, hangsUp, longLimits},
		"cut off":                  {"HTTP/1.1 103 Early Hints\r\nLink: <", delivery.ReasonProtocol, hangsUp, longLimits},
		"malformed, and hangs up":  {"HTTP/1.1 102 Processing\r\nbad\r\n\r\n", delivery.ReasonProtocol, hangsUp, longLimits},
		"a switch that is cut off": {"HTTP/1.1 101 Switching Protocols\r\n", delivery.ReasonProtocol, hangsUp, longLimits},
		"alone, and stalls": {
			"HTTP/1.1 199 Odd\r\nbad\r\n\r\n", delivery.ReasonTimeout, stays, limits{connect: time.Minute, attempt: time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			client := newClient(t, ca, receivers.Target{}, row.limits)
			got := client.Post(t.Context(), to(scripted(t, ca, []string{row.text}, row.then)+"/0"))
			checkResponse(t, name, delivery.Response{Reason: row.want}, got)
		})
	}
}
