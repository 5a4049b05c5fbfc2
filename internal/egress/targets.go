package egress

import (
	"cmp"
	"net"
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

// targets parses and checks each URL once, and keeps the allowance of each address.
type targets struct {
	mu         sync.Mutex
	known      map[string]*target // by URL; nil for one that is refused
	allowances map[string]*allowance
}

type target struct {
	url *url.URL // must not be changed
	*allowance
}

// get returns what is known of the URL, nil where its form is refused.
func (t *targets) get(raw string) *target {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.known[raw]; ok {
		return known
	}
	if t.known == nil || len(t.known) >= maxTargets {
		t.known, t.allowances = map[string]*target{}, map[string]*allowance{}
	}
	t.known[raw] = t.parse(raw)
	return t.known[raw]
}

func (t *targets) parse(raw string) *target {
	stored, err := forms.Normalise(raw)
	if err != nil {
		return nil
	}
	u, err := url.Parse(stored)
	if err != nil {
		return nil
	}
	return &target{u, t.allowanceOf(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))}
}

// dialled returns the allowance of an address as net/http dials it ("example.com:443").
func (t *targets) dialled(address string) *allowance {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.allowanceOf(address)
}

func (t *targets) allowanceOf(address string) *allowance {
	a := t.allowances[address]
	if a == nil {
		a = new(allowance)
		if t.allowances == nil {
			t.allowances = map[string]*allowance{}
		}
		t.allowances[address] = a
	}
	return a
}
