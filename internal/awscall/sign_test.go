package awscall

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
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
			header[name] = rapid.SliceOfN(rapid.StringMatching(`[ -~]{0,9}`), 1, 2).Draw(t, name)
		}
		return request{
			Request: &http.Request{
				Method: http.MethodPost, URL: &to, Host: to.Host, Header: header,
				ContentLength: rapid.Int64Range(0, 1<<20).Draw(t, "length"),
			},
			sum: rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "sum"),
		}
	})
}

// The SDK's signer is the model, a new one each time: it keeps a key for a key id, whatever the secret. One
// signing is used for many requests, and keeps keys.
func TestSigning_sign_asTheSDKDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := root
		to.Path = rapid.SampledFrom([]string{"/", "/below"}).Draw(t, "path")
		s := newSigning(v4.NewSigner(), "dynamodb", rapid.StringMatching(`[a-z]{2}-[a-z]+-\d`).Draw(t, "region"), to)
		for range 3 {
			r := requests(to).Draw(t, "request")
			as := aws.Credentials{
				AccessKeyID:     rapid.StringMatching(`[A-Z0-9]{20}`).Draw(t, "id"),
				SecretAccessKey: rapid.SampledFrom([]string{"one", "another"}).Draw(t, "secret"),
				SessionToken:    rapid.StringMatching(`([A-Za-z0-9+/=]{30})?`).Draw(t, "token"),
			}
			zone := time.FixedZone("", 3600*rapid.IntRange(-12, 12).Draw(t, "zone"))
			at := time.Date(2026, 12, 30, rapid.IntRange(0, 72).Draw(t, "hour"), 59, 58, 0, zone)
			want := r.Clone(t.Context())
			if as.SessionToken == "" {
				want.Header.Del("X-Amz-Security-Token") // of the try before
			}
			err := v4.NewSigner().SignHTTP(t.Context(), as, want, r.sum, "dynamodb", s.region, at)
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

// What awscall sends is not left to the SDK's signer, whatever an update of the SDK adds.
func TestSigning_sign_knowsTheRequestsOfThisPackage(t *testing.T) {
	t.Setenv("_X_AMZN_TRACE_ID", "Root=1")
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "deliver")
	cfg := aws.Config{Region: "eu-central-1"}
	tables, queues := NewDynamoDB(cfg), NewSQS(cfg)
	puts, err := tables.encodePuts(t.Context(), "T", []Item{{{Name: "id", Value: "1"}}})
	query, err2 := tables.service.encode(t.Context(), query, &dynamodb.QueryInput{TableName: aws.String("T")})
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String("u")}
	send, err3 := queues.service.encode(t.Context(), sendMessageBatch, in)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		s *signing
		r request
	}{
		"PutItems": {tables.service.signing, puts}, "Query": {tables.service.signing, query},
		"SendMessageBatch": {queues.service.signing, send},
	} {
		err := row.s.sign(t.Context(), row.r, aws.Credentials{SessionToken: "token"}, time.Now())
		if err != nil || !row.s.known || !knows(row.r.Header) || row.r.Header["X-Amzn-Trace-Id"] == nil {
			t.Errorf("%s: %v, %v, %v", name, err, row.s.known, row.r.Header)
		}
	}
}
