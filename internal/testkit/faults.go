package testkit

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Faults stands between the SDK's clients and the emulator. It forwards every AWS call, records it, and lets
// rules fail, throttle or cut off the calls they match. It is safe for concurrent use.
type Faults struct {
	cfg aws.Config // of the emulator

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

// Call is one AWS call as it was sent.
type Call struct {
	Service string // from the signature's scope: "sqs", "dynamodb", "kms", …
	Action  string // from X-Amz-Target, else "METHOD /path"
	Header  http.Header
	Body    []byte
}

// answer is a response in memory. A nil header means the connection is cut without one.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// NewFaults puts itself in front of the emulator of cfg, as [Moto] gives it.
func NewFaults(cfg aws.Config) *Faults { return &Faults{cfg: cfg} }

// Config returns a configuration for calls that meet the rules. Its clients retry as the SDK does by default.
func (f *Faults) Config() aws.Config {
	cfg := f.cfg.Copy()
	cfg.HTTPClient = f
	return cfg
}

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

// Do implements [aws.HTTPClient].
func (f *Faults) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
	}
	call := Call{Service: service(r), Action: action(r), Header: r.Header.Clone(), Body: body}
	forward := func(body []byte) (answer, error) { return f.forward(r, body) }
	var got answer
	var err error
	if fault := f.match(call); fault != nil {
		got, err = fault(call, forward)
	} else {
		got, err = forward(body)
	}
	if err == nil && got.header == nil {
		err = io.ErrUnexpectedEOF
	}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: got.status, Header: got.header, Body: io.NopCloser(bytes.NewReader(got.body)), Request: r,
	}, nil
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
	req := r.Clone(ctx)
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	res, err := f.cfg.HTTPClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: content}, err
}

// action names the call: JSON protocols put it after the dot of X-Amz-Target.
func action(r *http.Request) string {
	if _, name, found := strings.Cut(r.Header.Get("X-Amz-Target"), "."); found {
		return name
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
