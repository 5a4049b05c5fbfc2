package receivers

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// http2s misbehave in HTTP/2.
var http2s = []Case{
	one("sends GOAWAY on the first connection and behaves on the next", Outcome{Status: 200}, Promptly,
		func(t testing.TB, ca *CA) Target {
			return serveRaw(t, ca, alternating("h2", "http/1.1"), func(c *conn) {
				if c.ConnectionState().NegotiatedProtocol == "h2" {
					if c.readHTTP2Request() == nil {
						c.goAway(0)
					}
				} else if c.readRequest() == nil {
					_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
					c.hold()
				}
			})
		}),
	one("accepts the request, sends GOAWAY and closes", none(ReasonProtocol), Promptly,
		answeringHTTP2(func(c *conn) { c.goAway(1) })),
	one("refuses every request with GOAWAY", none(ReasonProtocol), Promptly,
		answeringHTTP2(func(c *conn) { c.goAway(0) })),
	one("resets the HTTP/2 stream instead of answering", none(ReasonProtocol), Promptly,
		handler(func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		})),
	one("resets the HTTP/2 stream during the body", Outcome{Status: 200}, Promptly,
		handler(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})),
	one("sends an HTTP/2 body without end", Outcome{Status: 200}, Promptly,
		handler(func(w http.ResponseWriter, _ *http.Request) {
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
	one("never answers over HTTP/2", none(ReasonTimeout), ByDeadline,
		handler(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		})),
	one("sends HTTP/2 headers just above 64 KiB", none(ReasonHeaderTooLarge), Promptly, handler(headers(62))),
	one("sends an HPACK bomb", none(ReasonHeaderTooLarge), Promptly, answeringHTTP2(func(c *conn) {
		_, _ = c.Write(frame(frameHeaders, endHeaders, 1, hpackBomb()))
		c.hold()
	})),
	// Go's client takes header blocks and 1xx far above its limit for a broken connection and does not say why.
	one("sends 200 KiB of HTTP/2 headers", none(ReasonProtocol), Promptly, handler(headers(200))),
	one("sends HTTP/2 headers without end", none(ReasonProtocol), Promptly, answeringHTTP2(func(c *conn) {
		_, _ = c.Write(frame(frameHeaders, 0, 1, []byte{0x88})) // :status 200
		var block bytes.Buffer
		bomb := hpack.HeaderField{Name: "x-bomb", Value: strings.Repeat("b", 4096), Sensitive: true}
		_ = hpack.NewEncoder(&block).WriteField(bomb)
		c.flood(frame(frameContinuation, 0, 1, block.Bytes()))
	})),
	one("floods with HTTP/2 1xx responses", none(ReasonProtocol), Promptly,
		handler(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</style.css>; rel=preload")
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
			}
		})),
}

// answeringHTTP2 is answering for receivers that write HTTP/2 by hand.
func answeringHTTP2(handle func(*conn)) func(t testing.TB, ca *CA) Target {
	return func(t testing.TB, ca *CA) Target {
		t.Helper()
		return serveRaw(t, ca, alternating("h2"), func(c *conn) {
			if c.readHTTP2Request() == nil {
				handle(c)
			}
		})
	}
}

// handler is the start of a case that HTTP/2 serves by the book.
func handler(handle http.HandlerFunc) func(t testing.TB, ca *CA) Target {
	return func(t testing.TB, ca *CA) Target {
		t.Helper()
		server, sent := serveHTTP(t, ca, handle)
		return Target{URL: server.URL + "/hook", Sent: sent}
	}
}

// alternating offers the first protocol on the first connection, the second on the next, and so on, and stays
// at the last.
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

// The frame types and flags of RFC 9113, 6, that are written here by hand.
const (
	frameHeaders      = 1
	frameSettings     = 4
	frameGoAway       = 7
	frameContinuation = 9
	endHeaders        = 4
)

// readHTTP2Request waits for the headers of the client's first request, which is stream 1.
func (c *conn) readHTTP2Request() error {
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(c.in, preface); err != nil {
		return err
	}
	_, _ = c.Write(frame(frameSettings, 0, 0, nil))
	for head := make([]byte, 9); head[3] != frameHeaders; {
		if _, err := io.ReadFull(c.in, head); err != nil {
			return err
		}
		length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := c.in.Discard(length); err != nil {
			return err
		}
	}
	return nil
}

// goAway says in HTTP/2 that streams up to last were taken and that no more will be
// (RFC 9113, 6.8, NO_ERROR), and lets the connection go.
func (c *conn) goAway(last uint32) {
	_, _ = c.Write(frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0)))
	_ = c.CloseWrite()
	c.hold()
}

// frame is an HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, stream), payload...)
}

// hpackBomb is a header block of 14 KiB that unpacks to 35 MB: one header, and references to it.
func hpackBomb() []byte {
	var block bytes.Buffer
	fields := hpack.NewEncoder(&block)
	_ = fields.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	bomb := hpack.HeaderField{Name: "x-bomb", Value: strings.Repeat("b", 3500)}
	for range 10_000 {
		_ = fields.WriteField(bomb)
	}
	return block.Bytes()
}

// headers answers with kib headers of about 1 KiB, of which HPACK counts 1,065 bytes each.
func headers(kib int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := range kib {
			w.Header().Set(fmt.Sprintf("X-Bomb-%d", i), strings.Repeat("b", 1024))
		}
	}
}
