// Package operatortest plays the operator functions that act on dead letters and rejected events in an account of the
// model of AWS.
//
// The model keeps the state, in the fake time of a bubble of synctest. Tests give verdicts about calls. A test fails
// where a dead letter is changed without a line in the audit log.
package operatortest

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// At is when the account begins, and when its first letter died.
var At = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Timeout is replay's.
const Timeout = 50 * time.Second

// Account is an account of the model with an operator function on it.
type Account struct {
	*testing.T
	*model.Model
	EventsQueue   *model.Queue
	RejectedQueue *model.Queue // EventsDeadLetterQueue

	Items *Items // of every tenant

	// Verdict decides what becomes of each call, and may wait. If it is nil, every call is done.
	Verdict func(c *model.Call) model.Verdict
	Faulty  bool // requests may fail

	Mutex    sync.Mutex
	made     int                   // calls
	Calls    map[string]int        // of every process, by name
	Steps    []string              // calls that change something, and audit lines, in order
	audited  map[string]bool       // dead letters
	Lines    map[string]audit.Line // the last of each action
	Order    []string              // of dead letters, by death
	Lists    int                   // pages of dead letters that were read
	Log      bytes.Buffer
	logLines slog.Handler // of the log, one for all processes: it has them write in turn

	function Function
}

// Function is the function of a process of an account.
type Function func(a *Account, p *model.Process) lambda.Handler

// In runs a test in an account with an active, a disabled, a deleted and a narrowed endpoint, at the time of the deaths
// of its letters.
func In(t *testing.T, f Function, do func(a *Account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(At))
		m := model.New()
		a := &Account{
			T: t, Model: m, EventsQueue: m.NewQueue("EventsQueue"), RejectedQueue: m.NewQueue("EventsDeadLetterQueue"),
			Items: &Items{}, Calls: map[string]int{}, audited: map[string]bool{}, Lines: map[string]audit.Line{}, function: f,
		}
		for id, status := range map[string]endpoint.Status{
			"webhook_1": endpoint.Active, "webhook_deleted": endpoint.Deleted, "webhook_disabled": endpoint.Disabled,
			"webhook_narrowed": endpoint.Active,
		} {
			a.Endpoints[id] = endpoint.Endpoint{ID: id, TenantID: "acme", Status: status, Events: []string{"user.*"}}
		}
		narrowed := a.Endpoints["webhook_narrowed"]
		narrowed.Events = []string{"user.created", "organization.*"}
		a.Endpoints["webhook_narrowed"] = narrowed
		a.logLines = slog.NewJSONHandler(&a.Log, nil)
		m.Judge = a.judge
		do(a)
	})
}

// InLetters runs a test in an account with dead letters of webhook_1, one a millisecond, an hour after their deaths.
func InLetters(t *testing.T, f Function, n int, do func(a *Account)) {
	t.Helper()
	In(t, f, func(a *Account) {
		a.Put(Deaths(a.T, n)...)
		time.Sleep(time.Hour)
		do(a)
	})
}

// Logger writes to the account's log.
func (a *Account) Logger() *slog.Logger { return slog.New(a.logLines) }

// changes are the calls that change something.
func changes(name string) bool {
	return strings.HasPrefix(name, "Write ") || strings.HasPrefix(name, "Send ") || strings.HasPrefix(name, "Delete")
}

// judge counts a call, and does as the test says. No dead letter is changed without a line in the audit log.
func (a *Account) judge(c *model.Call) model.Verdict {
	v := model.Done
	if a.Verdict != nil {
		v = a.Verdict(c)
	}
	a.Mutex.Lock()
	defer a.Mutex.Unlock()
	a.made++
	a.Calls[c.Name]++
	if c.Name == "Read DeadLetters" && c.Key == "list" {
		a.Lists++
	}
	if v == model.Done && changes(c.Name) && c.Name != "Write Jobs" {
		a.Steps = append(a.Steps, strings.TrimSpace(c.Name+" "+c.Key))
	}
	if _, erasing := a.Lines["erase"]; c.Name == "Write DeadLetters" && !a.audited[c.Key] && !erasing {
		a.Errorf("%s is changed without an audit line", c.Key)
	}
	return v
}

// Refuse has the calls with a name, or a name and a key, refused.
func (a *Account) Refuse(call string) {
	a.Verdict = func(c *model.Call) model.Verdict {
		if c.Name == call || c.Name+" "+c.Key == call {
			return model.Refused
		}
		return model.Done
	}
}

// Fault has the n-th call go wrong. All others are done.
func (a *Account) Fault(n int, v model.Verdict) {
	asked := 0
	a.made = 0
	a.Faulty = true
	a.Verdict = func(*model.Call) model.Verdict {
		a.Mutex.Lock()
		defer a.Mutex.Unlock()
		asked++
		if asked == n {
			return v
		}
		return model.Done
	}
}

// Heal has all calls done again. It reports whether the n-th was made.
func (a *Account) Heal(n int) (reached bool) {
	a.Verdict = nil
	a.Faulty = false
	return a.made >= n
}

// trail is the audit log, with the lines that it took.
type trail struct {
	model.Audit
	a *Account
}

func (l trail) Write(ctx context.Context, lines ...audit.Line) error {
	err := l.Audit.Write(ctx, lines...)
	if err != nil {
		return err
	}
	l.a.Mutex.Lock()
	defer l.a.Mutex.Unlock()
	for _, line := range lines {
		l.a.audited[line.DeliveryID] = true
		l.a.Lines[line.Action] = line
		l.a.Steps = append(l.a.Steps,
			"audit "+line.Action+" "+line.DeliveryID+line.MessageID+" by "+line.OperatorClaimed)
	}
	return nil
}

// Trail is the audit log of a process.
func (a *Account) Trail(p *model.Process) audit.Writer { return trail{p.Audit(), a} }

// Within makes a request of a new process, which has so much time.
func (a *Account) Within(limit time.Duration, request string) (answer string, err error) {
	a.Helper()
	p := a.Process("replay")
	h := a.function(a, p)
	p.Invoke(limit, func(ctx context.Context) {
		var out []byte
		out, err = h.Invoke(ForGood(ctx), []byte(request)) // by a name that may do all
		answer = string(out)
	}, func() {})
	return answer, err
}

// Ask makes a request.
func (a *Account) Ask(request string) string {
	a.Helper()
	answer, err := a.Within(Timeout, request)
	if err != nil {
		a.Fatalf("%s: %v", request, err)
	}
	return answer
}

// Ask makes a request and decodes its answer.
func Ask[T any](a *Account, request string) (answer T) {
	a.Helper()
	return testkit.Read[T](a.T, a.Ask(request))
}

// Refused is the code and field of a request's refusal.
func (a *Account) Refused(request string) string {
	a.Helper()
	return testkit.Refusal(a.T, a.Ask(request))
}

// ForGood is the context of an invocation by the alias that deletes for good.
func ForGood(ctx context.Context) context.Context { return Named(ctx, ":delete") }

// Named is the context of an invocation by the function's name with a suffix.
func Named(ctx context.Context, behind string) context.Context {
	const function = "arn:aws:lambda:eu-central-1:111122223333:function:herald-prod-replay"
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{InvokedFunctionArn: function + behind})
}
