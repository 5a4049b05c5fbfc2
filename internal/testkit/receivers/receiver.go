package receivers

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
)

// New starts a well-behaved HTTPS receiver and returns the URL of its endpoint; nil answers 204.
func New(t Scope, ca *CA, handle http.HandlerFunc) string {
	t.Helper()
	if handle == nil {
		handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	}
	return serveHTTP(t, ca, &Seen{}, handle).URL + "/hook"
}

// serveHTTP starts an HTTPS server that speaks HTTP/2 and HTTP/1.1 with a valid certificate.
func serveHTTP(t Scope, ca *CA, seen *Seen, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // a stream of HTTP/2 that ends with unread bytes is reset
		handle(w, r)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, Leaf{})}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}
