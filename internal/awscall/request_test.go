package awscall_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
)

// kept keeps requests in place of the network, and answers each with {}.
type kept struct{ requests []*http.Request }

func (k *kept) Do(r *http.Request) (*http.Response, error) {
	k.requests = append(k.requests, r)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func (k *kept) urls() (urls []string) {
	for _, r := range k.requests {
		urls = append(urls, r.URL.String())
	}
	k.requests = nil
	return urls
}

// Not every client knows of GetBody.
func TestService_sendsABodyThroughAnyClient(t *testing.T) {
	var k kept
	cfg := newFakeAWS(t).config()
	cfg.HTTPClient = &k
	tables, _ := clients(t, cfg)
	if _, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")}); err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(k.requests[0].Body)
	if want := `{"TableName":"T"}`; err != nil || string(body) != want || k.requests[0].ContentLength != int64(len(want)) {
		t.Errorf("%q of %d, %v", body, k.requests[0].ContentLength, err)
	}
}

// Signing writes into the address, and calls are made at the same time.
func TestService_givesEachCallAnAddressOfItsOwn(t *testing.T) {
	var k kept
	cfg := newFakeAWS(t).config()
	cfg.HTTPClient = &k
	tables, _ := clients(t, cfg)
	for range 2 {
		if _, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")}); err != nil {
			t.Fatal(err)
		}
	}
	if k.requests[0].URL == k.requests[1].URL {
		t.Error("two calls share one")
	}
}

func TestClients_callWhereTheSDKCalls(t *testing.T) {
	address := "http://127.0.0.1:4566/below"
	for name, change := range map[string]func(*aws.Config){
		"a region":            func(c *aws.Config) { c.Region = "eu-central-1" },
		"a region in China":   func(c *aws.Config) { c.Region = "cn-north-1" },
		"GovCloud":            func(c *aws.Config) { c.Region = "us-gov-west-1" },
		"an address":          func(c *aws.Config) { c.Region, c.BaseEndpoint = "local", &address },
		"FIPS and dual stack": func(c *aws.Config) { c.Region, c.ConfigSources = "us-east-1", []any{everything{}} },
	} {
		t.Run(name, func(t *testing.T) {
			var k kept
			cfg := newFakeAWS(t).config()
			cfg.BaseEndpoint, cfg.HTTPClient = nil, &k
			change(&cfg)
			tables, queues := clients(t, cfg)
			query, send := &dynamodb.QueryInput{TableName: aws.String("T")}, &sqs.SendMessageBatchInput{
				QueueUrl: aws.String("u"), Entries: []sqstypes.SendMessageBatchRequestEntry{}}
			_, sdkErr := tables.Client.Query(t.Context(), query)
			_, sdkErr2 := queues.Client.SendMessageBatch(t.Context(), send)
			want := k.urls()
			_, err := tables.Query(t.Context(), query)
			_, err2 := queues.SendMessageBatch(t.Context(), send)
			if all := errors.Join(sdkErr, sdkErr2, err, err2); all != nil {
				t.Fatal(all)
			}
			if diff := cmp.Diff(want, k.urls()); diff != "" || len(want) != 2 {
				t.Errorf("%v (-the SDK +ours)\n%s", want, diff)
			}
		})
	}
}

// everything asks for what a configuration may ask of endpoints.
type everything struct{}

func (everything) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, true, nil
}

func (everything) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, true, nil
}

func TestClients_sayWhenThereIsNoEndpoint(t *testing.T) {
	tables, queues := clients(t, aws.Config{Region: "not a region"})
	_, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")})
	_, err2 := queues.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String("u")})
	for service, err := range map[string]error{"DynamoDB": err, "SQS": err2} {
		if err == nil || !strings.Contains(err.Error(), service) || !strings.Contains(err.Error(), "endpoint") {
			t.Errorf("%s: %v", service, err)
		}
	}
}

// The signature is computed here once more, by Signature Version 4 (IAM User Guide, "Create a signed AWS
// API request"), from what arrived.
func TestService_signsWhatItSends(t *testing.T) {
	f := newFakeAWS(t)
	var seen *http.Request
	var body []byte
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte("{}"))
	})
	tables, queues := clients(t, f.config())
	for service, call := range map[string]func() error{
		"dynamodb": func() error {
			_, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")})
			return err
		},
		"sqs": func() error {
			_, err := queues.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String("u")})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		stated := seen.Header.Get("Authorization")
		_, rest, _ := strings.Cut(stated, "SignedHeaders=")
		names, signature, _ := strings.Cut(rest, ", Signature=")
		if want := sign(seen, body, names, service); signature != want {
			t.Errorf("%s: %s, want %s", service, stated, want)
		}
		for _, name := range []string{
			"content-length", "content-type", "host", "x-amz-date", "x-amz-security-token", "x-amz-target",
		} {
			if !strings.Contains(";"+names+";", ";"+name+";") {
				t.Errorf("%s is not signed: %s", name, names)
			}
		}
	}
}

// A try that came too late for its credentials is of no use if the next is signed with the same.
func TestService_signsEachTryAnew(t *testing.T) {
	f := newFakeAWS(t)
	var seen []string
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		key, _, _ := strings.Cut(r.Header.Get("Authorization"), "/")
		seen = append(seen, fmt.Sprint(key, " ", r.Header.Values("X-Amz-Security-Token"), " ", string(body), " ", err))
		if len(seen) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("{}"))
	})
	cfg, n := f.config(), 0
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		n++
		id, token := fmt.Sprint("id", n), fmt.Sprint("token", n)
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: "key", SessionToken: token}, nil
	})
	tables, _ := clients(t, cfg)
	if _, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`AWS4-HMAC-SHA256 Credential=id1 [token1] {"TableName":"T"} <nil>`,
		`AWS4-HMAC-SHA256 Credential=id2 [token2] {"TableName":"T"} <nil>`,
		`AWS4-HMAC-SHA256 Credential=id3 [token3] {"TableName":"T"} <nil>`,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func sign(r *http.Request, body []byte, names, service string) string {
	var canonical strings.Builder
	canonical.WriteString("POST\n/\n\n")
	for _, name := range strings.Split(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical.WriteString(name + ":" + value + "\n")
	}
	sum := sha256.Sum256(body)
	canonical.WriteString("\n" + names + "\n" + hex.EncodeToString(sum[:]))
	at := r.Header.Get("X-Amz-Date")
	scope := at[:8] + "/eu-central-1/" + service + "/aws4_request"
	whole := sha256.Sum256([]byte(canonical.String()))
	key := []byte("AWS4key")
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + scope + "\n" + hex.EncodeToString(whole[:])
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func TestService_handsOnTheTraceOfItsInvocation(t *testing.T) {
	var k kept
	cfg := newFakeAWS(t).config()
	cfg.HTTPClient = &k
	_, queues := clients(t, cfg)
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String("u"), Entries: []sqstypes.SendMessageBatchRequestEntry{}}
	for name, set := range map[string]map[string]string{
		"in a function": {
			"AWS_LAMBDA_FUNCTION_NAME": "f", "_X_AMZN_TRACE_ID": "Root=1-5;Parent=6;Sampled=1;Lineage=1:a|b:0",
		},
		"without a trace":        {"AWS_LAMBDA_FUNCTION_NAME": "f"},
		"outside of any":         {"_X_AMZN_TRACE_ID": "Root=1"},
		"with nothing in either": {},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range set {
				t.Setenv(name, value)
			}
			_, sdk := queues.Client.SendMessageBatch(t.Context(), in)
			_, err := queues.SendMessageBatch(t.Context(), in)
			if sdk != nil || err != nil {
				t.Fatal(sdk, err)
			}
			theirs, ours := k.requests[0].Header["X-Amzn-Trace-Id"], k.requests[1].Header["X-Amzn-Trace-Id"]
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Errorf("(-the SDK +ours)\n%s", diff)
			}
			k.requests = nil
		})
	}
}

func TestClients_leaveAConfigurationWithMiddlewareToTheSDK(t *testing.T) {
	seen := 0
	cfg := newFakeAWS(t).config()
	cfg.HTTPClient = &kept{}
	cfg.APIOptions = append(cfg.APIOptions, func(*middleware.Stack) error { seen++; return nil })
	tables, queues := clients(t, cfg)
	_, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")})
	_, err2 := queues.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String("u"),
		Entries: []sqstypes.SendMessageBatchRequestEntry{}})
	if err := errors.Join(err, err2); err != nil || seen != 2 {
		t.Errorf("seen %d times; %v", seen, err)
	}
}

func TestClients_leaveOptionsOfACallToTheSDK(t *testing.T) {
	f := newFakeAWS(t)
	tables, queues := clients(t, f.config())
	var k kept
	there, here := func(o *dynamodb.Options) { o.HTTPClient = &k }, func(o *sqs.Options) { o.HTTPClient = &k }
	write := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"T": {}}}
	_, err := tables.BatchWriteItem(t.Context(), write, there)
	_, err2 := tables.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"T": {Keys: []map[string]types.AttributeValue{{}}}}}, there)
	_, err3 := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")}, there)
	_, err4 := queues.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: aws.String("u"),
		Entries: []sqstypes.SendMessageBatchRequestEntry{}}, here)
	_, err5 := queues.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: aws.String("u"), Entries: []sqstypes.ChangeMessageVisibilityBatchRequestEntry{}}, here)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil || len(k.requests) != 5 {
		t.Errorf("%d calls took their option; %v", len(k.requests), err)
	}
}

func TestService_endsWithItsContext(t *testing.T) {
	f := newFakeAWS(t)
	tables, _ := clients(t, f.config())
	both := ofDynamoDB(tables.Client.Query, tables.Query)
	var said [][2]facts
	for name, query := range map[string]method[dynamodb.QueryInput, dynamodb.QueryOutput]{
		"the SDK": both.sdk, "ours": both.ours,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		f.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel(); <-hold })
		_, err := query(ctx, &dynamodb.QueryInput{TableName: aws.String("T")})
		close(hold)
		_, after := query(ctx, &dynamodb.QueryInput{TableName: aws.String("T")})
		var cancelled *smithy.CanceledError
		if !errors.Is(err, context.Canceled) || !errors.As(err, &cancelled) || !errors.Is(after, context.Canceled) {
			t.Errorf("%s: %v; after it: %v", name, err, after)
		}
		said = append(said, [2]facts{factsOf(err), factsOf(after)})
	}
	if diff := cmp.Diff(said[0], said[1]); diff != "" {
		t.Errorf("the SDK and ours do not say the same\n%s", diff)
	}
}
