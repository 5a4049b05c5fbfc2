package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// request is an event of payload format 2.0.
type request struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"`
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	PathParameters        map[string]string `json:"pathParameters,omitempty"`
	RequestContext        requestContext    `json:"requestContext"`
	Body                  string            `json:"body,omitempty"`
	IsBase64Encoded       bool              `json:"isBase64Encoded"`
}

type requestContext struct {
	AccountID    string      `json:"accountId"`
	APIID        string      `json:"apiId"`
	DomainName   string      `json:"domainName"`
	DomainPrefix string      `json:"domainPrefix"`
	HTTP         description `json:"http"`
	RequestID    string      `json:"requestId"`
	RouteKey     string      `json:"routeKey"`
	Stage        string      `json:"stage"`
	Time         string      `json:"time"`
	TimeEpoch    int64       `json:"timeEpoch"`
}

type description struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

// clf is the common log format's time.
const clf = "02/Jan/2006:15:04:05 -0700"

// event encodes a request as the payload of an invocation.
func (a *API) event(r *http.Request, body []byte, route Route, values map[string]string, id string) ([]byte, error) {
	now := time.Now().UTC()
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	prefix, _, _ := strings.Cut(host, ".")
	e := request{
		Version: "2.0", RouteKey: route.Key(), RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery,
		Cookies: cookies(r.Header), Headers: headers(r), QueryStringParameters: query(r.URL.RawQuery), PathParameters: values,
		RequestContext: requestContext{
			AccountID: a.AccountID, APIID: a.ID, DomainName: host, DomainPrefix: prefix, RequestID: id,
			RouteKey: route.Key(), Stage: "$default", Time: now.Format(clf), TimeEpoch: now.UnixMilli(),
			HTTP: description{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: sourceIP(r), UserAgent: r.UserAgent(),
			},
		},
	}
	switch {
	case len(body) == 0:
	case isText(r.Header.Get("Content-Type")) && utf8.Valid(body):
		e.Body = string(body)
	default:
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	payload, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding request: %w", err)
	}
	return payload, nil
}

func headers(r *http.Request) map[string]string {
	all := map[string]string{
		"host": r.Host, "x-forwarded-proto": "https",
		"x-amzn-trace-id": "Root=1-00000000-000000000000000000000000",
	}
	if r.ContentLength >= 0 {
		all["content-length"] = fmt.Sprint(r.ContentLength)
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
	values, _ := url.ParseQuery(raw) // what can be read of it is passed on
	joined := make(map[string]string, len(values))
	for name, list := range values {
		joined[name] = strings.Join(list, ",")
	}
	return joined
}

func sourceIP(r *http.Request) string {
	ip, _, _ := net.SplitHostPort(r.RemoteAddr) // always host and port on a TCP listener
	return ip
}
