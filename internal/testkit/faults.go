package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Faults is a proxy in front of the emulator. It forwards every AWS call, records it, and lets
// rules fail, throttle or cut off the calls they match. It is safe for concurrent use.
type Faults struct {
	server   *httptest.Server
	upstream string
	client   *http.Client

	mu    sync.Mutex
	rules []*rule
	calls []Call
}

// Rule says which calls meet a fault. Rules are tried in the order they were added; the first that matches wins.
type Rule struct {
	Action string          // as AWS names it, "SendMessageBatch"; empty: every action
	When   func(Call) bool // further condition on the request; nil: none
	After  int             // let this many matching calls pass first
	Times  int             // strike this many matching calls; 0: all of them
	Fault  Fault           // strikes them
}

type rule struct {
	Rule
	seen int
}

// Call is one AWS call as the proxy saw it.
type Call struct {
	Service string // from the signature's scope: "sqs", "dynamodb", "kms", …
	Action  string // from X-Amz-Target or the form's Action, else "METHOD /path"
	Header  http.Header
	Body    []byte
	Status  int // of the answer; 0: none
}

// answer is a response in memory. A nil header means the connection is cut without one.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// NewFaults puts a proxy in front of the emulator of cfg. It ends with the test.
func NewFaults(t testing.TB, cfg aws.Config) *Faults {
	t.Helper()
	if cfg.BaseEndpoint == nil {
		t.Fatal("testkit: NewFaults needs a configuration with a BaseEndpoint, as Moto gives it")
	}
	f := &Faults{upstream: strings.TrimSuffix(*cfg.BaseEndpoint, "/"), client: plainHTTP}
	f.server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
	})
	return f
}

// Config returns a configuration whose calls go through the proxy. Its clients retry as the SDK does by default.
func (f *Faults) Config() aws.Config { return configFor(f.server.URL) }

// Add adds a rule.
func (f *Faults) Add(r Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{Rule: r})
}

// On is Add for the usual case: the next calls of action, times of them (0: all), meet fault.
func (f *Faults) On(action string, times int, fault Fault) {
	f.Add(Rule{Action: action, Times: times, Fault: fault})
}

// Clear removes all rules; calls in progress keep the fault they met.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Calls returns the finished calls of action in the order they ended; of every action when it is empty.
func (f *Faults) Calls(action string) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []Call
	for _, c := range f.calls {
		if action == "" || c.Action == action {
			found = append(found, c)
		}
	}
	return found
}

// Reset forgets the recorded calls and keeps the rules.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	call := Call{Service: service(r), Action: action(r, body), Header: r.Header.Clone(), Body: body}
	forward := func(body []byte) (answer, error) { return f.forward(r, body) }
	var got answer
	if fault := f.match(call); fault != nil {
		got, err = fault(call, forward)
	} else {
		got, err = forward(body)
	}
	if err != nil {
		got = answer{status: http.StatusBadGateway, header: http.Header{}, body: []byte(fmt.Sprintf("fault proxy: %v", err))}
	}
	call.Status = got.status
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	got.write(w)
}

// match returns the fault that c meets, if any, and counts it.
func (f *Faults) match(c Call) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if (r.Action != "" && r.Action != c.Action) || (r.When != nil && !r.When(c)) {
			continue
		}
		r.seen++
		if r.seen > r.After && (r.Times == 0 || r.seen <= r.After+r.Times) {
			return r.Fault
		}
	}
	return nil
}

// forward performs the call on the emulator. The client's going away does not undo a call it sent.
func (f *Faults) forward(r *http.Request, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, f.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header = r.Header.Clone()
	req.Host = r.Host // part of the signature and of the queue URLs that come back
	res, err := f.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: content}, err
}

func (a answer) write(w http.ResponseWriter) {
	if a.header == nil {
		panic(http.ErrAbortHandler) // net/http cuts the connection, quietly
	}
	for name, values := range a.header {
		if name != "Content-Length" && name != "Connection" && name != "Transfer-Encoding" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// action names the call: JSON protocols put it after the dot of X-Amz-Target, the query protocol in the form.
func action(r *http.Request, body []byte) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:]
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		for field := range strings.SplitSeq(string(body), "&") {
			if name, found := strings.CutPrefix(field, "Action="); found {
				return name
			}
		}
	}
	return r.Method + " " + r.URL.Path
}

// service is the fourth part of the credential scope: key/date/region/service/aws4_request.
func service(r *http.Request) string {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		return parts[3]
	}
	return ""
}
