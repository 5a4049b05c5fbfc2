package endpoint

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// AnyAddress is the policy of a URL's form alone: addresses and ports are left to others.
var AnyAddress = URLPolicy{
	Addr: func(netip.Addr) bool { return true },
	Port: func(uint16) bool { return true },
}

// Address returns the host and port that are dialled for a URL in its stored form, "example.com:443".
func Address(stored *url.URL) string {
	return net.JoinHostPort(stored.Hostname(), cmp.Or(stored.Port(), "443"))
}

// Origin returns where the requests to a URL go, "https://example.com:443": its scheme, and the host and port that are
// dialled. URLs have one origin if, and only if, their requests go to one host and port. The error of a URL that cannot
// be dialled says why.
func Origin(raw string) (string, error) {
	stored, err := AnyAddress.Normalise(raw)
	if err != nil {
		return "", fmt.Errorf("the URL %w", err)
	}
	u, err := url.Parse(stored)
	if err != nil {
		return "", fmt.Errorf("reading the origin of a URL: %w", errForm) // the error would quote the URL
	}
	return u.Scheme + "://" + Address(u), nil
}
