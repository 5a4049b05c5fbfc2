package receivers

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// servers are common HTTP servers that misbehave, or speak another protocol than HTTP/1.1.
var servers = []Case{
	one("offers HTTP/2 and HTTP/1.1", Outcome{Status: 200}, Promptly,
		handler(func(w http.ResponseWriter, r *http.Request) {
			if r.Proto != "HTTP/1.1" || r.TLS.NegotiatedProtocol != "" {
				w.WriteHeader(http.StatusHTTPVersionNotSupported)
			}
		})),
	one("refuses the handshake of a client without HTTP/2", none("tls"), Promptly, func(t Scope, ca *CA) Target {
		return serveRaw(t, ca, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if !slices.Contains(hello.SupportedProtos, "h2") {
				return nil, errors.New("no HTTP/2")
			}
			return nil, nil
		}}, (*conn).hold)
	}),
	one("sends 20 KiB of certificates", Outcome{Status: 200}, Promptly, certified(padded(20<<10))),
	one("sends the end of its handshake late", Outcome{Status: 200}, Promptly, late),
	one("speaks HTTP/2 before it is asked", none("protocol"), Promptly, func(t Scope, ca *CA) Target {
		return serveRaw(t, ca, nil, func(c *conn) {
			_, _ = c.Write(settings)
			_ = c.readRequest()
		})
	}),
	one("answers in HTTP/2", none("protocol"), Promptly, answering(func(c *conn) {
		_, _ = c.Write(append(settings, goAway...))
	})),
	one("aborts instead of answering", none("protocol"), Promptly,
		handler(func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		})),
	one("aborts during the body", Outcome{Status: 200}, Promptly,
		handler(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})),
	one("sends headers just below 64 KiB", Outcome{Status: 200}, Promptly, handler(headers(62))),
	one("sends headers just above 64 KiB", none("response_header_too_large"), Promptly, handler(headers(64))),
	one("sends 200 KiB of headers", none("response_header_too_large"), Promptly, handler(headers(200))),
}

// The frames that a server of HTTP/2 sends first, and to a client that speaks something else
// (RFC 9113, 3.4 and 6.8).
var (
	settings = []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}
	goAway   = []byte{0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
)

// handler is the start of a case that a server of net/http serves.
func handler(handle http.HandlerFunc) func(t Scope, ca *CA) Target {
	return func(t Scope, ca *CA) Target {
		t.Helper()
		seen := &Seen{}
		server := serveHTTP(t, ca, seen, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == neighbour {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			handle(w, r)
		})
		return neighboured(Target{URL: server.URL + "/hook", Seen: seen})
	}
}

// headers answers with kib headers of 1,037 to 1,039 bytes.
func headers(kib int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := range kib {
			w.Header().Set(fmt.Sprintf("X-Bomb-%d", i), strings.Repeat("b", 1024))
		}
	}
}
