package endpoint

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// anywhere is the policy of a URL's form alone.
var anywhere = URLPolicy{
	Addr: func(netip.Addr) bool { return true },
	Port: func(uint16) bool { return true },
}

// Origin returns where the requests to a URL go, "https://example.com:443": its scheme, its host as it is stored, and
// its port, the default one too. URLs have one origin if, and only if, their requests go to one host and port. The
// error of a URL that cannot be dialled says why.
func Origin(raw string) (string, error) {
	stored, err := anywhere.Normalise(raw)
	if err != nil {
		return "", fmt.Errorf("the URL %w", err)
	}
	u, err := url.Parse(stored)
	if err != nil {
		return "", fmt.Errorf("reading the origin of a URL: %w", errForm) // the error would quote the URL
	}
	return u.Scheme + "://" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")), nil
}
