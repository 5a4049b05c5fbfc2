package egress

import (
	"net/netip"
	"net/url"
	"sync"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// maxTargets bounds the parsed URLs kept in memory.
const maxTargets = 10_000

// forms refuses the URL forms that are refused when an endpoint is written (localhost, single
// labels, numbers posing as hosts, user info …): what is stored may be older than a rule.
// Addresses and ports are left to the dialler, which has reasons of their own for them.
var forms = endpoint.URLPolicy{
	Addr: func(netip.Addr) bool { return true },
	Port: func(uint16) bool { return true },
}

// targets parses and checks each URL once.
type targets struct {
	mu    sync.Mutex
	known map[string]*url.URL // nil for one that is refused
}

// get returns the parsed URL, nil where its form is refused. It must not be changed.
func (t *targets) get(raw string) *url.URL {
	t.mu.Lock()
	defer t.mu.Unlock()
	u, ok := t.known[raw]
	if ok {
		return u
	}
	if stored, err := forms.Normalise(raw); err == nil {
		u, _ = url.Parse(stored) // parsed before: nil is a refusal all the same
	}
	if t.known == nil || len(t.known) >= maxTargets {
		t.known = map[string]*url.URL{}
	}
	t.known[raw] = u
	return u
}
