package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// event is a request in payload format 2.0.
func (a *API) event(r *http.Request, body []byte, route Route) events.APIGatewayV2HTTPRequest {
	now := time.Now().UTC()
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	prefix, _, _ := strings.Cut(host, ".")
	ip, _, _ := net.SplitHostPort(r.RemoteAddr) // always host and port on a TCP listener
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: route.Key(), RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header), Headers: headers(r),
		QueryStringParameters: query(r.URL.RawQuery), PathParameters: map[string]string{},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID: a.AccountID, APIID: a.ID, DomainName: host, DomainPrefix: prefix, RequestID: rand.Text(),
			RouteKey: route.Key(), Stage: "$default", Time: now.Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch: now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip, UserAgent: r.UserAgent(),
			},
		},
	}
	for _, name := range route.variables() {
		e.PathParameters[name] = r.PathValue(name)
	}
	if isText(r.Header.Get("Content-Type")) && utf8.Valid(body) {
		e.Body = string(body)
	} else if len(body) > 0 {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e
}

// isText tells whether API Gateway passes a body of this type on as text.
func isText(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "application/json", "application/javascript", "application/xml":
		return true
	default:
		return strings.HasPrefix(kind, "text/")
	}
}

func headers(r *http.Request) map[string]string {
	all := map[string]string{"host": r.Host, "x-forwarded-proto": "https"}
	if r.ContentLength >= 0 {
		all["content-length"] = strconv.FormatInt(r.ContentLength, 10)
	}
	for name, values := range r.Header {
		if name != "Cookie" {
			all[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	return all
}

func cookies(h http.Header) []string {
	var all []string
	for _, line := range h.Values("Cookie") {
		for one := range strings.SplitSeq(line, ";") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}

// query joins the values of a parameter given more than once with commas, as payload format 2.0 does.
func query(raw string) map[string]string {
	values, _ := url.ParseQuery(raw) // the readable part is passed on
	joined := make(map[string]string, len(values))
	for name, list := range values {
		joined[name] = strings.Join(list, ",")
	}
	return joined
}
