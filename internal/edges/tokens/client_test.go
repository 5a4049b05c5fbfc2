package tokens_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// server starts a token server that behaves as handle does, and returns its URL and a client that trusts it.
func server(t *testing.T, handle http.HandlerFunc) (ca *receivers.CA, url string) {
	t.Helper()
	ca = receivers.NewCA(t)
	s := httptest.NewUnstartedServer(handle)
	s.TLS = serverTLS(t, ca)
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return ca, s.URL + "/token"
}

// A request is a form, with the credentials where the method has them, and the answer's token is as it came.
func TestClient_Ask_sendsTheCredentialsAndTakesTheToken(t *testing.T) {
	type asked struct{ Method, Path, Authorization, Type, Accept, Agent, Encoding, Body string }
	var got []asked
	ca, url := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		got = append(got, asked{
			r.Method, r.RequestURI, h.Get("Authorization"), h.Get("Content-Type"), h.Get("Accept"), h.Get("User-Agent"),
			h.Get("Accept-Encoding"), string(body),
		})
		_, _ = io.WriteString(w, `{"access_token":"a.b-c","token_type":"bearer","expires_in":100}`)
	})
	g := grant(url + "?a=b")
	for _, method := range endpoint.ClientMethods() {
		g.Method = method
		access, why := newClient(t, ca, receivers.Target{}).Ask(t.Context(), g)
		if diff := cmp.Diff(token.Access{Token: "a.b-c", Life: 90 * time.Second}, access); why != "" || diff != "" {
			t.Errorf("%q (-want +got)\n%s", why, diff)
		}
	}
	common := asked{
		Method: "POST", Path: "/token?a=b", Type: "application/x-www-form-urlencoded", Accept: "application/json",
		Agent: "Herald/test",
	}
	basic, posted := common, common
	basic.Authorization, basic.Body = "Basic aGVyYWxkOnMzY3JldA==", "grant_type=client_credentials"
	posted.Body = "client_id=herald&client_secret=s3cret&grant_type=client_credentials"
	if diff := cmp.Diff([]asked{basic, posted}, got); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
}

// Servers that are in nobody's table but this one: their answers look like tokens.
//
// Threat of a tenant: answers for a token with a page, 1 GB, a bomb or a line feed. Held by: 16 KiB as they come, and
// visible ASCII alone.
func TestClient_Ask_refusesWhatIsNoToken(t *testing.T) {
	const good = `{"access_token":"t","token_type":"Bearer"}`
	says := func(status int, header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, _ = zip.Write(bytes.Repeat([]byte(" "), 10<<20))
	_, _ = zip.Write([]byte(good))
	_ = zip.Close()
	redirected := 0
	_, elsewhere := server(t, func(w http.ResponseWriter, _ *http.Request) {
		redirected++
		_, _ = io.WriteString(w, good)
	})
	const refused, unreachable = "token_refused", "token_unreachable"
	for name, row := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"redirects":                           {says(302, "Location", elsewhere, good), refused},
		"redirects, and keeps the body":       {says(307, "Location", elsewhere, good), refused},
		"sends a page":                        {says(200, "Content-Type", "text/html", "<html>sign in</html>"), refused},
		"refuses the client":                  {says(401, "X", "y", `{"error":"invalid_client"}`), refused},
		"refuses with a token":                {says(400, "X", "y", good), refused},
		"is busy":                             {says(429, "X", "y", good), unreachable},
		"is down":                             {says(503, "X", "y", good), unreachable},
		"sends a gzip bomb":                   {says(200, "Content-Encoding", "gzip", bomb.String()), refused},
		"sends 1 GB":                          {floods(`{"x":"`, 1<<30), refused},
		"sends 1 GB of headers":               {says(200, "X-Bomb", strings.Repeat("x", 1<<20), good), unreachable},
		"hangs before its answer":             {hangs(""), unreachable},
		"hangs in its answer":                 {hangs(`{"access_token":"t",`), unreachable},
		"sends a byte at a time":              {drips, unreachable},
		"announces more than it sends":        {says(200, "Content-Length", "1000", good), unreachable},
		"sends a token of another type":       {says(200, "X", "y", `{"access_token":"t","token_type":"mac"}`), refused},
		"sends a token with a line feed":      {says(200, "X", "y", `{"access_token":"t\n","token_type":"Bearer"}`), refused},
		"sends a token behind 16 KiB of room": {says(200, "X", "y", strings.Repeat(" ", 17<<10)+good), refused},
	} {
		ca, url := server(t, row.handle)
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		access, why := newClient(t, ca, receivers.Target{}).Ask(ctx, grant(url))
		cancel()
		if access.Token != "" || string(why) != row.want {
			t.Errorf("%s: %q, want %q", name, why, row.want)
		}
	}
	if redirected > 0 {
		t.Errorf("%d redirects were followed", redirected)
	}
}

func floods(begin string, bytes int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, begin)
		chunk := strings.Repeat("x", 1<<16)
		for n := 0; n < bytes; n += len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}
}

func hangs(begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
}

func drips(w http.ResponseWriter, r *http.Request) {
	for {
		if _, err := fmt.Fprint(w, " "); err != nil || r.Context().Err() != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		time.Sleep(20 * time.Millisecond)
	}
}
