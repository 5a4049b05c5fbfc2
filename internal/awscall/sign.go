package awscall

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// signing signs the requests of one service in one region by Signature Version 4 (IAM User Guide, "Create
// a signed AWS API request"). It knows the requests of this package only, and leaves others to
// the SDK's signer, which makes more than twice as many allocations for each.
type signing struct {
	sdk     signer
	service string
	region  string
	known   bool // the SDK's own signer signs, and the endpoint is a host alone, without a default port
	key     atomic.Pointer[signingKey]
}

type signer interface {
	SignHTTP(
		ctx context.Context, credentials aws.Credentials, r *http.Request, payloadHash, service, region string,
		at time.Time, options ...func(*v4.SignerOptions),
	) error
}

// newSigning returns what signs as the SDK's client of the service would.
func newSigning(sdk signer, service, region string, to url.URL) *signing {
	_, standard := sdk.(*v4.Signer) // which removes a default port from the host
	port := to.Port()
	return &signing{
		sdk: sdk, service: service, region: region,
		known: standard && to.Path == "/" && to.RawQuery == "" && port != "80" && port != "443",
	}
}

// signingKey is the key of one secret for a day.
type signingKey struct {
	secret, day string
	key         []byte
}

// signed are the headers that are signed, in their order.
var signed = [...]struct{ name, header string }{
	{"accept-encoding", "Accept-Encoding"},
	{"content-length", ""},
	{"content-type", "Content-Type"},
	{"host", ""},
	{"x-amz-date", "X-Amz-Date"},
	{"x-amz-security-token", "X-Amz-Security-Token"},
	{"x-amz-target", "X-Amz-Target"},
	{"x-amzn-query-mode", "X-Amzn-Query-Mode"},
}

// unsigned are those that the SDK's signer leaves out, too.
var unsigned = [...]string{"Authorization", "User-Agent", "X-Amzn-Trace-Id"}

const algorithm = "AWS4-HMAC-SHA256"

// sign signs a request at a time.
func (s *signing) sign(ctx context.Context, r request, as aws.Credentials, at time.Time) error {
	at = at.UTC()
	r.Header["X-Amz-Date"] = []string{at.Format("20060102T150405Z")}
	delete(r.Header, "X-Amz-Security-Token")
	if as.SessionToken != "" {
		r.Header["X-Amz-Security-Token"] = []string{as.SessionToken}
	}
	if !s.known || r.ContentLength <= 0 || !knows(r.Header) {
		return s.sdk.SignHTTP(ctx, as, r.Request, r.sum, s.service, s.region, at)
	}
	moment := r.Header["X-Amz-Date"][0]
	day := moment[:len("20060102")]
	scope := day + "/" + s.region + "/" + s.service + "/aws4_request"
	text, names := appendCanonical(make([]byte, 0, 2<<10), r)
	sum := sha256.Sum256(text)
	signature := mac(s.keyOf(as.SecretAccessKey, day),
		algorithm+"\n"+moment+"\n"+scope+"\n"+hex.EncodeToString(sum[:]))
	r.Header["Authorization"] = []string{algorithm + " Credential=" + as.AccessKeyID + "/" + scope +
		", SignedHeaders=" + names + ", Signature=" + hex.EncodeToString(signature)}
	return nil
}

// knows reports whether what has to become of each header is known.
func knows(all http.Header) bool {
	n := 0
	for _, s := range signed {
		if values := all[s.header]; len(values) == 1 && !strings.Contains(values[0], " ") {
			n++
		}
	}
	for _, name := range unsigned {
		if _, ok := all[name]; ok {
			n++
		}
	}
	return n == len(all)
}

// appendCanonical appends the canonical request and returns the names of its headers.
func appendCanonical(b []byte, r request) (_ []byte, names string) {
	b = append(b, "POST\n/\n\n"...)
	list := make([]byte, 0, 128)
	for _, s := range signed {
		var value string
		switch values := r.Header[s.header]; {
		case s.name == "host":
			value = r.Host
		case s.name == "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		case len(values) == 0:
			continue
		default:
			value = values[0]
		}
		b = append(append(append(append(b, s.name...), ':'), value...), '\n')
		list = append(append(list, ';'), s.name...)
	}
	list = list[1:]
	b = append(append(append(b, '\n'), list...), '\n')
	return append(b, r.sum...), string(list)
}

func (s *signing) keyOf(secret, day string) []byte {
	if k := s.key.Load(); k != nil && k.secret == secret && k.day == day {
		return k.key
	}
	key := []byte("AWS4" + secret)
	for _, part := range [...]string{day, s.region, s.service, "aws4_request"} {
		key = mac(key, part)
	}
	s.key.Store(&signingKey{secret, day, key})
	return key
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text) // a hash takes everything
	return h.Sum(nil)
}
