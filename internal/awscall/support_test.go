package awscall_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/internal/awscall"
)

// fakeAWS plays answers, the last one for ever, and keeps what it was asked.
type fakeAWS struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	asked   []asked
}

// answer is one response. Without a status the connection is closed instead.
type answer struct {
	status int
	body   string
	header map[string]string
}

func ok(body string) []answer { return []answer{{status: http.StatusOK, body: body}} }

// asked is what an answer can depend on.
type asked struct {
	Method, Path, Target, ContentType, Encoding, Mode string
	Body                                              any
}

func newFakeAWS(t testing.TB) *fakeAWS {
	t.Helper()
	f := &fakeAWS{}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAWS) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	of := func(name string) string { return r.Header.Get(name) }
	what := asked{Method: r.Method, Path: r.URL.Path, Target: of("X-Amz-Target"), ContentType: of("Content-Type"),
		Encoding: of("Accept-Encoding"), Mode: of("X-Amzn-Query-Mode")}
	if err := json.Unmarshal(body, &what.Body); err != nil {
		what.Body = string(body)
	}
	f.mu.Lock()
	a := f.answers[0]
	f.answers = f.answers[min(1, len(f.answers)-1):]
	f.asked = append(f.asked, what)
	f.mu.Unlock()
	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// plays makes f answer from now on and returns what it was asked before.
func (f *fakeAWS) plays(answers []answer) []asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.asked
	f.asked, f.answers = nil, answers
	return before
}

// config is of clients of f; their retries do not wait.
func (f *fakeAWS) config() aws.Config {
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: &f.URL, HTTPClient: awscall.NewHTTPClient(10 * time.Second),
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", "token"),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}
}

func clients(t testing.TB, cfg aws.Config) (*awscall.DynamoDB, *awscall.SQS) {
	t.Helper()
	return awscall.NewDynamoDB(cfg), awscall.NewSQS(cfg)
}
