package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// event is a request in payload format 2.0, without the fields that API Gateway reads from path, query and cookies.
func event(r *http.Request, body []byte) events.APIGatewayV2HTTPRequest {
	ip, _, _ := net.SplitHostPort(r.RemoteAddr) // always host and port on a TCP listener
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: defaultRoute, RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery, Headers: headers(r),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RequestID: rand.Text(), RouteKey: defaultRoute, Stage: "$default", TimeEpoch: time.Now().UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip, UserAgent: r.UserAgent(),
			},
		},
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
