package egress

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// maxTargets bounds the parsed URLs kept in memory.
const maxTargets = 2000

// forms refuses the URL forms that are refused when an endpoint is written (localhost, single
// labels, numbers posing as hosts, user info …): what is stored may be older than a rule.
// Addresses and ports are left to the dialler, which has reasons of their own for them.
var forms = endpoint.URLPolicy{
	Addr: func(netip.Addr) bool { return true },
	Port: func(uint16) bool { return true },
}

// target is a URL as an exchange needs it.
type target struct {
	address string // host and port, to dial
	host    string // whose certificate it must be
	head    string // the request's first lines, up to and with Host
}

// targets parses and checks each URL once.
type targets struct {
	mu    sync.Mutex
	known map[string]*target // by URL; nil for one that is refused
}

// get returns what is known of the URL, nil where its form is refused.
func (t *targets) get(raw string) *target {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.known[raw]; ok {
		return known
	}
	if t.known == nil || len(t.known) >= maxTargets {
		t.known = map[string]*target{}
	}
	t.known[raw] = parse(raw)
	return t.known[raw]
}

func parse(raw string) *target {
	stored, err := forms.Normalise(raw)
	if err != nil {
		return nil
	}
	u, err := url.Parse(stored)
	if err != nil || strings.ContainsFunc(u.Host+u.RequestURI(), isNoByteOfURL) {
		return nil
	}
	return &target{
		address: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")),
		host:    u.Hostname(),
		head:    "POST " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n",
	}
}

// isNoByteOfURL finds what would end the request's first line, or begin another.
func isNoByteOfURL(r rune) bool { return r <= ' ' || r >= 0x7f }
