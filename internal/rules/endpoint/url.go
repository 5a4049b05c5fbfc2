package endpoint

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxURL is the longest URL, in characters, as written and as stored.
const maxURL = 2048

// URLPolicy decides which URLs may be written. Addr and Port are the dialler's rules for an IP literal and a port;
// nil Addr refuses every literal, nil Port every port but 443.
type URLPolicy struct {
	Addr func(netip.Addr) bool
	Port func(uint16) bool
}

// hostForm maps a host name to ASCII as browsers do (WHATWG URL, "domain to ASCII"). The rules for registering a name
// are not its rules: names with hyphens at places 3 and 4 exist.
var hostForm = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true),
	idna.CheckHyphens(false), idna.StrictDomainName(false),
)

// hostName is a name that Go's resolver looks up: labels of letters, digits, hyphens and underscores, without a hyphen
// at either end.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// numericLabel is a last label that makes some resolver read the whole host as a number
// (WHATWG URL, "ends in a number").
var numericLabel = regexp.MustCompile(`^([0-9]+|0[xX][0-9a-fA-F]*)$`)

// rootDot is one trailing dot, in any of the scripts that IDNA maps to a dot.
var rootDot = regexp.MustCompile("[.\u3002\uff0e\uff61]$")

// raw are the bytes that have to be escaped in a path or a query (RFC 3986, 3.3 and 3.4). A percent sign need not be
// escaped again: parse has checked that each one begins an escape.
var raw = regexp.MustCompile(`[^a-zA-Z0-9!$%&'()*+,./:;=?@_~-]+`)

// The refusals of Normalise. Their texts are shown to the tenant and never quote the URL.
var (
	errLength   = errors.New("must have at most 2048 characters")
	errForm     = errors.New("is not a URL")
	errEscape   = errors.New("must write a percent sign as %25, unless two hexadecimal digits follow it")
	errScheme   = errors.New("must start with https://")
	errUser     = errors.New("must not hold a user name or password")
	errFragment = errors.New("must not have a fragment")
	errHost     = errors.New("must name a host by a valid domain name or IP address")
	errLocal    = errors.New("must not name a local host: a domain with at least two labels is needed")
	errNumeric  = errors.New("must write an IPv4 address as four plain decimal numbers")
	errAddr     = errors.New("must not name an address that is not publicly reachable")
	errPort     = errors.New("must use port 443")
)

// Normalise returns the URL in its stored form: host in ASCII and lower case without trailing dot, no default port, and
// a path of at least "/". Path and query stay as they are written, except for characters that have to be escaped.
// Nothing is decoded, and no segment is left out. The error tells the tenant how to change the URL. Normalise makes no
// DNS lookup.
func (p URLPolicy) Normalise(text string) (string, error) {
	if len(text) > 4*maxURL || utf8.RuneCountInString(text) > maxURL {
		return "", errLength
	}
	u, target, err := parse(text)
	if err != nil {
		return "", err
	}
	host, err := p.host(u.Hostname())
	if err != nil {
		return "", err
	}
	port, err := p.port(u.Host, u.Port())
	if err != nil {
		return "", err
	}
	stored := "https://" + host + port + raw.ReplaceAllStringFunc(target, url.QueryEscape)
	if len(stored) > maxURL {
		return "", errLength
	}
	return stored, nil
}

// parse checks the form of a URL. It returns the parts up to the host, and path and query as they are written.
func parse(text string) (u *url.URL, target string, err error) {
	forbidden := func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }
	if !utf8.ValidString(text) || strings.ContainsFunc(text, forbidden) {
		return nil, "", errForm
	}
	origin, target := divide(text)
	u, err = url.Parse(origin)
	switch {
	case err != nil:
		return nil, "", errForm
	case u.Scheme != "https":
		return nil, "", errScheme
	case u.Opaque != "" || u.Host == "":
		return nil, "", errForm
	case u.User != nil:
		return nil, "", errUser
	case strings.Contains(text, "#"): // an empty fragment too
		return nil, "", errFragment
	}
	if _, err := url.PathUnescape(target); err != nil {
		return nil, "", errEscape
	}
	return u, target, nil
}

// divide returns scheme, host and port of a URL, and its path and query, where an empty path is "/".
func divide(text string) (origin, target string) {
	scheme, rest, found := strings.Cut(text, "://")
	at := strings.IndexAny(rest, "/?#")
	// CONDITIONALS_BOUNDARY: a URL with nothing between scheme and path has no host, and is refused anyway.
	if !found || at < 0 {
		return text, "/"
	}
	origin, target = scheme+"://"+rest[:at], rest[at:]
	if target[0] != '/' {
		target = "/" + target
	}
	return origin, target
}

// host returns the host as it is stored, an IPv6 literal in brackets.
func (p URLPolicy) host(name string) (string, error) {
	if strings.Contains(name, ":") {
		return p.literal(name)
	}
	name, err := hostForm.ToASCII(rootDot.ReplaceAllString(name, ""))
	if err != nil {
		return "", errHost
	}
	if again, err := hostForm.ToASCII(name); err != nil || again != name || !hostName.MatchString(name) {
		return "", errHost
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case numericLabel.MatchString(last):
		if _, err := netip.ParseAddr(name); err != nil {
			return "", errNumeric
		}
		return p.literal(name)
	case last == name, last == "localhost" && !p.loopback():
		return "", errLocal
	}
	return name, nil
}

// loopback reports whether the machine itself may be named, as the local stage's policy allows: names below localhost
// are its own (RFC 6761, 6.3).
func (p URLPolicy) loopback() bool {
	return p.Addr != nil && p.Addr(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
}

func (p URLPolicy) literal(text string) (string, error) {
	addr, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return "", errHost
	case p.Addr == nil || addr.Zone() != "" || !p.Addr(addr):
		return "", errAddr
	case addr.Is6():
		return "[" + addr.String() + "]", nil
	}
	return addr.String(), nil
}

// port returns ":" and the port, or "" for the default.
func (p URLPolicy) port(hostport, text string) (string, error) {
	if text == "" {
		if strings.HasSuffix(hostport, ":") {
			return "", errForm
		}
		return "", nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || (n != 443 && (p.Port == nil || !p.Port(uint16(n)))) {
		return "", errPort
	}
	if n == 443 {
		return "", nil
	}
	return ":" + strconv.FormatUint(n, 10), nil
}
