package receivers

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// statuses are complete answers that are easily taken for something else.
var statuses = []Case{
	status(200, ""), status(201, ""), status(202, ""), status(299, ""),
	status(300, "http_3xx"), status(304, "http_3xx"),
	status(400, "http_4xx"), status(401, "http_4xx"), status(407, "http_4xx"), status(410, "http_4xx"),
	status(421, "http_4xx"), status(429, "http_429"),
	status(500, "http_5xx"), status(503, "http_5xx"), status(599, "http_5xx"), status(999, "http_5xx"),
}

// redirects must not be followed.
var redirects = []Case{
	redirect(301, metadata), redirect(302, metadata), redirect(303, metadata), redirect(307, metadata),
	redirect(308, metadata),
	redirect(302, ""), redirect(307, ""), redirect(308, ""),
}

const metadata = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"

func status(code int, reason string) Case {
	return one("answers "+strconv.Itoa(code), Outcome{Status: code, Reason: reason}, Promptly,
		handler(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
		}))
}

// redirect sends the client to location. If location is empty, it sends it to a listener that the network would let the
// client reach, and counts the connections there: a client must follow no redirect.
func redirect(code int, location string) Case {
	where := "itself elsewhere"
	if location != "" {
		where = "the metadata address"
	}
	c := one("redirects with "+strconv.Itoa(code)+" to "+where, Outcome{Status: code, Reason: "http_3xx"}, Promptly,
		func(t Scope, ca *CA) Target {
			addr, trapped := Trap(t, "127.0.0.1:0")
			to := location
			if to == "" {
				to = "https://" + addr + "/hook"
			}
			seen := &Seen{}
			server := serveHTTP(t, ca, seen, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(code)
			})
			return Target{URL: server.URL + "/hook", Seen: seen, Trapped: trapped}
		})
	c.Beyond = location != ""
	return c
}

// waits are failures with a Retry-After of every kind. The client hands the text on as it came.
func waits() []Case {
	var cases []Case
	for _, wait := range []struct {
		name   string
		values []string
	}{
		{"in seconds", []string{"120"}},
		{"of zero", []string{"0"}},
		{"that is negative", []string{"-30"}},
		{"of 10,000 years", []string{"315360000000"}},
		{"beyond 64 bits", []string{"99999999999999999999999"}},
		{"with a fraction", []string{"1.5"}},
		{"as a date", []string{"Wed, 21 Oct 2037 07:28:00 GMT"}},
		{"as a date of the past", []string{"Wed, 21 Oct 2015 07:28:00 GMT"}},
		{"as a date of RFC 850", []string{"Wednesday, 21-Oct-37 07:28:00 GMT"}},
		{"as a date of asctime", []string{"Wed Oct 21 07:28:00 2037"}},
		{"that says nothing", []string{"soon"}},
		{"that is empty", []string{""}},
		{"of 60,000 digits", []string{strings.Repeat("9", 60000)}},
		{"repeated, the first rules", []string{"7", "86400"}},
	} {
		for _, want := range []Outcome{{429, "http_429", wait.values[0]}, {503, "http_5xx", wait.values[0]}} {
			name := "answers " + strconv.Itoa(want.Status) + " with a Retry-After " + wait.name
			cases = append(cases, one(name, want, Promptly, handler(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Retry-After"] = wait.values
				w.WriteHeader(want.Status)
			})))
		}
	}
	return cases
}

// names are reached through a DNS of their own. 127.0.0.1 stands for a public address, since
// the client may dial it; 127.0.0.2 and the rest stand for private ones.
var names = []Case{
	one("has a name that does not exist", none("dns"), Promptly, named(Always())),
	one("has a name with a private address only", none("blocked_address"), Promptly, named(Always("127.0.0.2"))),
	one("has a name with the metadata address", none("blocked_address"), Promptly, named(Always("169.254.169.254"))),
	one("has a name with an IPv4-mapped private address", none("blocked_address"), Promptly,
		named(Always("::ffff:127.0.0.2"))),
	one("has a name with IPv6 loopback and a NAT64 address", none("blocked_address"), Promptly,
		named(Always("::1", "64:ff9b::7f00:2"))),
	one("has a name with a private address before a public one", Outcome{Status: 200}, Promptly,
		named(Always("127.0.0.2", "127.0.0.1"))),
	one("has a name with a public address before private ones", Outcome{Status: 200}, Promptly,
		named(Always("127.0.0.1", "127.0.0.2", "10.0.0.1", "::1"))),
	{
		Name:  "changes its address to a private one on the second query",
		Start: named(then([]string{"127.0.0.1"}, []string{"127.0.0.2"})),
		Want:  []Outcome{{Status: 200}, none("blocked_address")},
		Ends:  Promptly,
		Bytes: memory,
	},
}

// named starts a receiver on 127.0.0.1 that keeps no connection, a trap on the same port of 127.0.0.2, and a
// DNS in front.
func named(answer Answer) func(t Scope, ca *CA) Target {
	return func(t Scope, ca *CA) Target {
		t.Helper()
		seen := &Seen{}
		server := serveHTTP(t, ca, seen,
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
		_, port, err := net.SplitHostPort(server.Listener.Addr().String())
		if err != nil {
			t.Fatalf("receivers: %v", err)
		}
		_, trapped := Trap(t, net.JoinHostPort("127.0.0.2", port))
		url := "https://" + net.JoinHostPort(Host, port) + "/hook"
		return Target{URL: url, Seen: seen, Resolver: DNS(t, answer), Trapped: trapped}
	}
}
