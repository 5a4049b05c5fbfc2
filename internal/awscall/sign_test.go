package awscall

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// root is an endpoint as AWS has them.
var root = url.URL{Scheme: "https", Host: "dynamodb.eu-central-1.amazonaws.com", Path: "/"}

// requests are what this package sends, and what it may have to send one day.
func requests(to url.URL) *rapid.Generator[request] {
	names := []string{
		"Accept-Encoding", "Content-Type", "User-Agent", "X-Amz-Target", "X-Amzn-Query-Mode", "X-Amzn-Trace-Id",
		"X-Amz-New", "Authorization", "X-Amz-Date", "X-Amz-Security-Token",
	}
	return rapid.Custom(func(t *rapid.T) request {
		to, header := to, http.Header{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names") {
			header[name] = rapid.SliceOfN(rapid.StringMatching(`[!-~]{0,9}`), 1, 2).Draw(t, name)
		}
		return request{
			Request: &http.Request{
				Method: http.MethodPost, URL: &to, Host: to.Host, Header: header,
				ContentLength: rapid.Int64Range(1, 1<<20).Draw(t, "length"),
			},
			sum: rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "sum"),
		}
	})
}

// The SDK's signer is the model. One signing is used for many requests, and keeps keys.
func TestSigning_sign_asTheSDKDoes(t *testing.T) {
	sdk := v4.NewSigner()
	rapid.Check(t, func(t *rapid.T) {
		to := root
		to.Path = rapid.SampledFrom([]string{"/", "/below"}).Draw(t, "path")
		s := newSigning(sdk, "dynamodb", rapid.StringMatching(`[a-z]{2}-[a-z]+-\d`).Draw(t, "region"), to)
		for range 3 {
			r := requests(to).Draw(t, "request")
			as := aws.Credentials{
				AccessKeyID:     rapid.StringMatching(`[A-Z0-9]{20}`).Draw(t, "id"),
				SecretAccessKey: rapid.SampledFrom([]string{"one", "another"}).Draw(t, "secret"),
				SessionToken:    rapid.StringMatching(`([A-Za-z0-9+/=]{30})?`).Draw(t, "token"),
			}
			at := time.Date(2026, 12, 30, 23, 59, 58, 0, time.UTC).Add(
				time.Duration(rapid.IntRange(0, 72).Draw(t, "hours")) * time.Hour)
			want := r.Clone(t.Context())
			if as.SessionToken == "" {
				want.Header.Del("X-Amz-Security-Token") // of the try before
			}
			err := sdk.SignHTTP(t.Context(), as, want, r.sum, "dynamodb", s.region, at)
			if ours := s.sign(t.Context(), r, as, at); err != nil || ours != nil {
				t.Fatal(err, ours)
			}
			if diff := cmp.Diff(want.Header, r.Header); diff != "" {
				t.Fatalf("(-the SDK +ours)\n%s", diff)
			}
		}
	})
}

func TestNewSigning_knowsOnlyHostsOfTheirOwnThatTheSDKSignsFor(t *testing.T) {
	sdk := v4.NewSigner()
	for address, want := range map[string]bool{
		"https://dynamodb.eu-central-1.amazonaws.com/": true, "http://127.0.0.1:4566/": true,
		"https://dynamodb.eu-central-1.amazonaws.com:443/": false, "http://localhost:80/": false,
		"http://127.0.0.1:4566/below": false, "http://127.0.0.1:4566/?a=b": false,
	} {
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if s := newSigning(sdk, "sqs", "eu-central-1", *to); s.known != want {
			t.Errorf("%s: known %v, want %v", address, s.known, want)
		}
		if s := newSigning(another{sdk}, "sqs", "eu-central-1", *to); s.known {
			t.Errorf("%s: another signer is known", address)
		}
	}
}

// another is a signer that the configuration brings.
type another struct{ *v4.Signer }

// What awscall sends today is not left to the SDK's signer.
func TestSigning_sign_knowsTheRequestsOfThisPackage(t *testing.T) {
	allocations := func(header http.Header) float64 {
		s := newSigning(v4.NewSigner(), "sqs", "eu-central-1", root)
		r := request{Request: &http.Request{Method: http.MethodPost, URL: &root, Host: root.Host, Header: header}}
		return testing.AllocsPerRun(10, func() {
			if err := s.sign(t.Context(), r, aws.Credentials{SessionToken: "token"}, time.Now().UTC()); err != nil {
				t.Fatal(err)
			}
		})
	}
	known := http.Header{"Content-Type": {"c"}, "X-Amz-Target": {"t"}, "X-Amzn-Query-Mode": {"true"}, "User-Agent": {"u"}}
	odd := known.Clone()
	odd.Set("X-Amz-New", "n")
	if ours, sdks := allocations(known), allocations(odd); ours > sdks/2 {
		t.Errorf("%v allocations, by the SDK's signer %v", ours, sdks)
	}
}
