package receivers

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// http2s misbehave in HTTP/2.
var http2s = []Case{
	one("sends GOAWAY on the first connection and behaves on the next", Outcome{Status: 200}, Promptly, func(t testing.TB, ca *CA) Target {
		return serveRaw(t, ca, alternating("h2", "http/1.1"), func(c *conn) {
			if c.ConnectionState().NegotiatedProtocol == "h2" {
				c.goAway(0)
			} else if c.readRequest() == nil {
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
				c.hold()
			}
		})
	}),
	one("accepts the request, sends GOAWAY and closes", none(ReasonProtocol), Promptly, func(t testing.TB, ca *CA) Target {
		return serveRaw(t, ca, alternating("h2"), func(c *conn) { c.goAway(1) })
	}),
	one("refuses every request with GOAWAY", none(ReasonProtocol), Promptly, func(t testing.TB, ca *CA) Target {
		return serveRaw(t, ca, alternating("h2"), func(c *conn) { c.goAway(0) })
	}),
	one("resets the HTTP/2 stream instead of answering", none(ReasonProtocol), Promptly, handler(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})),
	one("resets the HTTP/2 stream during the body", Outcome{Status: 200}, Promptly, handler(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})),
	one("sends an HTTP/2 body without end", Outcome{Status: 200}, Promptly, handler(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 16384); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})),
	one("stalls in the HTTP/2 body", Outcome{Status: 200}, ByDrain, handler(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})),
	one("never answers over HTTP/2", none(ReasonTimeout), ByDeadline, handler(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	})),
	one("sends HTTP/2 headers just above 64 KiB", none(ReasonHeaderTooLarge), Promptly, handler(headers(62))),
	// Go's client takes a header block far above its limit for a fault of the connection and does not say why.
	one("sends 200 KiB of HTTP/2 headers", none(ReasonProtocol), Promptly, handler(headers(200))),
}

// handler is the start of a case that HTTP/2 serves by the book.
func handler(handle http.HandlerFunc) func(t testing.TB, ca *CA) Target {
	return func(t testing.TB, ca *CA) Target {
		t.Helper()
		server, sent := serveHTTP(t, ca, handle)
		return Target{URL: server.URL + "/hook", Sent: sent}
	}
}

// alternating offers the first protocol on the first connection, the second on the next, and so on, and stays at the last.
func alternating(protocols ...string) *tls.Config {
	config := &tls.Config{}
	connections := make(chan string, len(protocols))
	for _, p := range protocols {
		connections <- p
	}
	last := protocols[len(protocols)-1]
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		next := config.Clone()
		select {
		case p := <-connections:
			next.NextProtos = []string{p}
		default:
			next.NextProtos = []string{last}
		}
		return next, nil
	}
	return config
}

// goAway waits for the client's first request, says in HTTP/2 that streams up to last were
// taken and that no more will be (RFC 9113, 6.8, NO_ERROR), and lets the connection go.
func (c *conn) goAway(last uint32) {
	const frameHeaders, frameSettings, frameGoAway = 1, 4, 7
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(c.in, preface); err != nil {
		return
	}
	c.frame(frameSettings, nil)
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(c.in, head); err != nil {
			return
		}
		length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := c.in.Discard(length); err != nil {
			return
		}
		if head[3] == frameHeaders {
			break
		}
	}
	c.frame(frameGoAway, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0))
	_ = c.CloseWrite()
	c.hold()
}

// frame writes an HTTP/2 frame of stream 0 without flags.
func (c *conn) frame(kind byte, payload []byte) {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, 0, 0, 0, 0, 0}
	_, _ = c.Write(append(head, payload...))
}

// headers answers with kib headers of about 1 KiB, of which HPACK counts 1,065 bytes each.
func headers(kib int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := range kib {
			w.Header().Set(fmt.Sprintf("X-Bomb-%d", i), strings.Repeat("b", 1024))
		}
	}
}
