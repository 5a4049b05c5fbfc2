// Package console is a page for operators, served on loopback by the command line tool.
//
// It promises to be as exposed as the tool itself: it listens on loopback, answers only callers with the token of
// this start, only under its own names and path, and takes acts only from its own pages. It loads nothing from the
// network, shows texts of tenants and receivers as text, and does no more than the operator functions do: IAM decides.
// It keeps nothing on disk. What costs by the minute, it does for one page at a time, and ends by itself.
package console

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/follow"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// New returns the console of a listener on loopback. The name and the path of its address are new with each start. The
// cookie is bound to both, since browsers send a cookie to all ports of a name, and so to other servers on this
// machine. Browsers resolve every *.localhost to loopback. The address serves browsers that do not.
func New(c Config, l net.Listener) (*Server, error) {
	address := l.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading the console's own address: %w", err)
	}
	name := "herald-" + strings.ToLower(rand.Text()[:8]) + ".localhost"
	s := &Server{
		Config: c, hosts: []string{net.JoinHostPort(name, port), address}, token: rand.Text(),
		site: parts.Site{Base: "/" + strings.ToLower(rand.Text()), Now: c.Now}, tail: follow.New(c.Follow, c.Now),
	}
	s.pages, err = template.New("").Funcs(s.functions()).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the pages: %w", err)
	}
	return s, nil
}

// Handler serves the console.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, v := range s.views() {
		mux.HandleFunc("GET "+path, s.show(path, v))
	}
	for path, act := range s.acts() {
		mux.HandleFunc("POST "+path, s.perform(act))
	}
	mux.HandleFunc("GET /find", s.find)
	mux.HandleFunc("GET /tail/seen", s.seen)
	files, _ := fs.Sub(staticFiles, "static") // it is there: embedded above
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	return s.guard(http.StripPrefix(s.site.Base, mux))
}

// policy forbids everything that is not the page's own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard lets in requests with the token, under the page's own name. A foreign site could give its name the address of
// loopback, and a page of another origin could post here.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers name the Origin of the page's own forms "null"
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !slices.Contains(s.hosts, r.Host):
			http.Error(w, "the console has another name: open the address that herald console printed", http.StatusForbidden)
		case !strings.HasPrefix(r.URL.Path, s.site.Base+"/"):
			http.Error(w, "open the address that herald console printed", http.StatusForbidden)
		case r.URL.Path == s.site.Base+"/" && s.matches(r.URL.Query().Get("token")):
			http.SetCookie(w, &http.Cookie{ //nolint:gosec // loopback speaks no TLS
				Name: cookie, Value: s.token, Path: s.site.Base + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			http.Redirect(w, r, s.site.Base+"/", http.StatusSeeOther)
		case !slices.ContainsFunc(r.CookiesNamed(cookie), func(c *http.Cookie) bool { return s.matches(c.Value) }):
			http.Error(w, "open the address that herald console printed", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Header.Get("Origin") != "http://"+r.Host:
			http.Error(w, "another site sent this", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

const cookie = "herald_console"

func (s *Server) matches(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}
