package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// sent is a request as it was sent.
type sent = map[string]any

// fake answers the requests of a command, by action, and keeps them.
type fake struct {
	sync.Mutex                   // status asks twice at the same time
	answers    map[string]string // by function and action
	later      []string          // in turn, where answers has none; "" is a fault
	requests   []sent
	asked      []string                     // the functions, of each request
	sought     bool                         // the stack was
	cloud      *account                     // all else of AWS
	lacks      string                       // a function that the stack does not have
	handlers   map[string]*webhooks.Handler // functions that answer for themselves
}

func (f *fake) Invoke(
	ctx context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	var r sent
	if err := json.Unmarshal(in.Payload, &r); err != nil {
		return nil, err
	}
	f.Lock()
	defer f.Unlock()
	action, _ := r["action"].(string)
	f.requests, f.asked = append(f.requests, r), append(f.asked, *in.FunctionName)
	if h := f.handlers[*in.FunctionName]; h != nil {
		answer, err := h.Invoke(ctx, in.Payload)
		return &lambda.InvokeOutput{Payload: answer}, err
	}
	answer, ok := f.answers[*in.FunctionName+" "+action]
	if !ok && len(f.later) > 0 {
		answer, f.later = f.later[0], f.later[1:]
		ok = answer != ""
	}
	if !ok {
		return nil, exit.With(exit.Failed, "unexpected %s %s", *in.FunctionName, in.Payload)
	}
	return &lambda.InvokeOutput{Payload: []byte(answer)}, nil
}

// answered is an answer by function and action.
type answered struct{ to, text string }

// to is the answer to an action.
func to[Request, Answer any](action api.Action[Request, Answer], answer Answer) answered {
	return answered{string(action.Function) + " " + action.Name, written(answer)}
}

// refusing is a refusal of an action.
func refusing[Request, Answer any](action api.Action[Request, Answer], refusal api.Refusal) answered {
	return answered{string(action.Function) + " " + action.Name, refused(refusal)}
}

// fakeOf answers actions, whenever they are asked for.
func fakeOf(all ...answered) *fake {
	f := &fake{answers: map[string]string{}}
	f.say(all...)
	return f
}

// say changes answers.
func (f *fake) say(all ...answered) {
	for _, a := range all {
		f.answers[a.to] = a.text
	}
}

// written is an answer as a function writes it.
func written(answer any) string {
	text, err := api.EncodeAnswer(answer)
	if err != nil {
		panic(err) // the types of package api can all be encoded
	}
	return string(text)
}

// refused is a refusal as a function writes it.
func refused(refusal api.Refusal) string { return written(api.Refused{Error: &refusal}) }

// together merges answers into a single answer that fits many requests. If two have the same field, the later one wins.
func together(all ...any) string {
	fields := map[string]jsontext.Value{}
	for _, answer := range all {
		if err := json.Unmarshal([]byte(written(answer)), &fields); err != nil {
			panic(err) // written has encoded it
		}
	}
	return written(fields)
}

// emptyList is an empty list of anything.
var emptyList = written(api.List[struct{}]{})

// listOf is a list with these rows alone.
func listOf[R any](rows ...R) api.List[R] { return api.List[R]{Data: rows} }

var now = time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

// play runs a command line and returns its exit code and output.
func (f *fake) play(t *testing.T, input string, args ...string) (code int, out, words string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(input), Out: &stdout, Err: &stderr, Now: clock, Asks: true}
	code = f.run(t.Context(), on, args...)
	return code, stdout.String(), stderr.String()
}

// run runs a command line on a terminal.
func (f *fake) run(ctx context.Context, on *terminal.Terminal, args ...string) (code int) {
	if f.cloud == nil {
		f.cloud = newAccount()
	}
	connect := func(context.Context, stack.Where) (stack.Stack, error) {
		f.sought = true
		functions := map[string]string{
			"inspect": "inspect", "replay": "replay", "control": "control", "apikeys": "apikeys", "webhooks": "webhooks",
			"replaydelete": "replay:delete", "inspectscan": "inspect:scan", "apikeysrevoke": "apikeys:revoke",
		}
		delete(functions, f.lacks)
		return stack.Stack{
			Name: "herald-test", Operator: "arn:aws:iam::1:user/ann", Functions: functions, Lambda: f,
			AWS: f.cloud.config(),
		}, nil
	}
	return Run(ctx, append([]string{"herald"}, args...), on, connect)
}

// ends plays a command line without input, fails the test unless it ends with this code and says all that, and
// returns its output.
func (f *fake) ends(t *testing.T, code int, line string, says ...string) (out string) {
	t.Helper()
	got, out, words := f.play(t, "", strings.Fields(line)...)
	if got != code {
		t.Errorf("herald %s: exit code %d, want %d", line, got, code)
	}
	contains(t, out+words, says...)
	return out
}

// contains fails the test for each text that a command does not say.
func contains(t *testing.T, said string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("does not say %q:\n%s", text, said)
		}
	}
}

func TestBulk_countsAsksAndStartsAJob(t *testing.T) {
	f := fakeOf(
		to(api.StartJob, api.Survey{
			Selected: 12, Ready: 10, Refused: map[string]int{"endpoint_deleted": 2}, Complete: true,
			Until: time.Date(2026, 1, 3, 8, 0, 0, 0, time.UTC), Job: &api.Job{JobID: "job_1"},
		}),
		to(api.ListCauses, api.Causes{Data: []api.Cause{
			{TenantID: "acme", Description: "crm", State: api.StateOpen, Reason: delivery.ReasonHTTP5xx, Count: 10},
		}}))
	code, out, words := f.play(t, "y\n", "dead", "replay", "--tenant", "acme", "--since", "22:00")
	if code != exit.Done || out != "job_1\n" || len(f.requests) != 3 {
		t.Fatalf("exit code %d, %d requests, output %q, %s", code, len(f.requests), out, words)
	}
	counted, started := f.requests[0], f.requests[2]
	selected := sent{
		"action": "causes", "operator": counted["operator"], "tenant_id": "acme", "since": "2026-05-01T22:00:00Z",
	}
	if diff := cmp.Diff(selected, f.requests[1]); diff != "" {
		t.Errorf("the causes that are shown (-want +got):\n%s", diff)
	}
	if counted["dry_run"] != true || started["dry_run"] != nil || counted["token"] != started["token"] ||
		started["until"] != "2026-01-03T08:00:00Z" {
		t.Errorf("counted with %v, started with %v", counted, started)
	}
	contains(t, words, "acme       crm       open   http_5xx  10    held until the endpoint is back\n",
		"died since 2026-05-01 22:00:00 UTC, as here\ndied until 2026-01-03 08:00:00 UTC, as here\n",
		"12 selected, 10 can be done", "cannot be done: 2 endpoint_deleted", "Replay 10")
}

func TestBulk_findsAnEndpointByItsHost(t *testing.T) {
	f := fakeOf(to(api.GetEndpoint, api.Endpoint{EndpointID: "webhook_1"}),
		to(api.StartJob, api.Survey{Selected: 1, Ready: 1, Complete: true}))
	f.ends(t, exit.Done, "--dry-run dead replay --endpoint acme/hooks.example.com --reason timeout")
	asked := []sent{} // fields that select letters, inspect refuses about an endpoint
	for _, r := range f.requests[:2] {
		asked = append(asked,
			sent{"endpoint_id": r["endpoint_id"], "tenant_id": r["tenant_id"], "reason": r["reason"]})
	}
	want := []sent{
		{"endpoint_id": "hooks.example.com", "tenant_id": "acme", "reason": nil},
		{"endpoint_id": "webhook_1", "tenant_id": "acme", "reason": "timeout"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	f = fakeOf(refusing(api.GetEndpoint, api.Refusal{Code: api.CodeInvalidField, Message: "several"}))
	if f.ends(t, exit.Usage, "-y dead replay --tenant acme --endpoint orders", "several"); len(f.requests) != 1 {
		t.Errorf("asked %v", f.requests)
	}
}

func TestBulk_nothingSelectedIsDone_nothingPossibleFailed(t *testing.T) {
	for selected, want := range map[int]int{0: exit.Done, 2: exit.Failed} {
		f := fakeOf(to(api.StartJob, api.Survey{
			Selected: selected, Complete: true, Refused: map[string]int{"why": selected},
		}))
		f.ends(t, want, "rejected publish --reason not_processed --watch", "0 can be done\n")
		f.ends(t, want, "dead purge --tenant acme")
		if out := f.ends(t, exit.Done, "-o json --dry-run rejected publish --tenant acme"); !strings.Contains(out, "ready") {
			t.Errorf("a dry run prints %q", out)
		}
	}
}

func TestBulk_actsOnNothingWithoutAYes(t *testing.T) {
	for input, args := range map[string][]string{
		"n\n": {"dead", "purge", "--tenant", "acme"},
		"":    {"dead", "purge", "--tenant", "acme"},
		"y\n": {"--no-input", "dead", "purge", "--tenant", "acme"},
		"y":   {"--dry-run", "dead", "purge", "--tenant", "acme"},
	} {
		f := fakeOf(to(api.StartJob, api.Survey{Selected: 1, Ready: 1, Complete: true}))
		_, _, words := f.play(t, input, args...)
		if hint := "do it: \nherald: nothing was done: add --yes"; strings.Contains(words, hint) != (input == "") {
			t.Errorf("input %q: %s", input, words)
		}
		acts := slices.DeleteFunc(f.requests, func(r sent) bool { return r["action"] == "causes" })
		if len(acts) != 1 || acts[0]["dry_run"] != true {
			t.Errorf("input %q: %v", input, f.requests)
		}
	}
}

// notDoneAnswer is about an id that was refused.
var notDoneAnswer = written(api.DeliveryResults{Data: []api.DeliveryResult{{Result: api.ResultRefused}}})

func TestExitCodes(t *testing.T) {
	no := func(code api.Code) string {
		return refused(api.Refusal{Code: code, Message: "\x1b[2Jno", Field: "tenant_id"})
	}
	for name, c := range map[string]struct {
		args   []string
		answer string
		want   int
	}{
		"a refusal":                 {[]string{"deliveries", "show", "x"}, no(api.CodeNotFound), exit.Failed},
		"a value that is refused":   {[]string{"deliveries", "show", "x"}, no(api.CodeInvalidField), exit.Usage},
		"no argument":               {[]string{"deliveries", "show"}, "", exit.Usage},
		"no such command":           {[]string{"dead", "reply"}, "", exit.Usage},
		"no such flag":              {[]string{"dead", "list", "--tennant", "a"}, "", exit.Usage},
		"no time":                   {[]string{"dead", "list", "--since", "soon"}, "", exit.Usage},
		"an end before the start":   {[]string{"dead", "list", "--since", "1h", "--until", "2h"}, "", exit.Usage},
		"ids and flags":             {[]string{"dead", "replay", "msg_1", "--tenant", "acme"}, "", exit.Usage},
		"neither ids nor flags":     {[]string{"dead", "replay"}, "", exit.Usage},
		"an empty argument":         {[]string{"-y", "endpoints", "discard", "", "--tenant", "acme"}, "", exit.Usage},
		"an empty flag":             {[]string{"-y", "dead", "purge", "--tenant", "", "--reason", "timeout"}, "", exit.Usage},
		"a tenant and no endpoint":  {[]string{"-y", "dead", "purge", "--endpoint", "acme/"}, "", exit.Usage},
		"an act on no endpoint":     {[]string{"-y", "endpoints", "discard", "acme/"}, "", exit.Usage},
		"a test of no endpoint":     {[]string{"test", "acme/"}, "", exit.Usage},
		"no endpoint to show":       {[]string{"endpoints", "show", "acme/"}, "", exit.Usage},
		"ids to preview":            {[]string{"--dry-run", "dead", "replay", "msg_1"}, "", exit.Usage},
		"more than a page":          {[]string{"status", "--limit", "101"}, "", exit.Usage},
		"less than a row":           {[]string{"status", "--limit", "0"}, "", exit.Usage},
		"attempts to no id":         {[]string{"tail", "--endpoint", "acme/crm"}, "", exit.Usage},
		"acts that were not done":   {[]string{"-y", "dead", "replay", "a"}, notDoneAnswer, exit.Unhealthy},
		"an answer that is no JSON": {[]string{"deliveries", "show", "x"}, `<html>`, exit.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{answers: map[string]string{
				"inspect delivery": c.answer, "replay deliveries": c.answer,
			}}
			code, _, words := f.play(t, "", c.args...)
			if code != c.want || words == "" && c.want != exit.Unhealthy {
				t.Errorf("exit code %d, want %d: %q", code, c.want, words)
			}
			if strings.Contains(words, "\x1b") {
				t.Errorf("steers the terminal: %q", words)
			}
			if c.answer == "" && f.sought {
				t.Error("looked for the stack first")
			}
		})
	}
}

func TestExitCodes_sayThatTheOutputWasNotWritten(t *testing.T) {
	_, closed := io.Pipe()
	_ = closed.Close()
	for line, want := range map[string]struct {
		code int
		why  string
	}{
		"types":                                  {exit.Failed, ""},
		"console":                                {exit.Failed, ""}, // and serves no page
		"-y dead replay a":                       {exit.Unhealthy, ""},
		"-y endpoints pause webhook_1 webhook_2": {exit.Unhealthy, "refused: b/ (): webhook_2"},
	} {
		f := fakeOf(to(api.GetEndpoint, api.Endpoint{TenantID: "b"}), answered{"replay deliveries", notDoneAnswer})
		f.later = []string{
			written(api.ControlAnswer{}), refused(api.Refusal{Code: api.CodeNotFound, Message: "webhook_2"}),
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
		var words bytes.Buffer
		code := f.run(ctx, &terminal.Terminal{Out: closed, Err: &words, Now: clock}, strings.Fields(line)...)
		if code != want.code || ctx.Err() != nil {
			t.Errorf("%s: exit code %d, %v", line, code, ctx.Err())
		}
		contains(t, words.String(), "writing the output", want.why)
		cancel()
	}
}

func TestJSON_steersNoTerminalAndKeepsItsMeaning(t *testing.T) {
	const name = "a\u009b2J\u202e\U000e0001é"
	text, err := json.Marshal(map[string]string{"of_a_newer_stack": name})
	if err != nil {
		t.Fatal(err)
	}
	f := fakeOf(answered{"inspect delivery", string(text)})
	out := f.ends(t, exit.Done, "-o json deliveries show x")
	var got sent
	if err := json.Unmarshal([]byte(out), &got); err != nil || got["of_a_newer_stack"] != name {
		t.Errorf("%v, %v", err, got)
	}
	var written bytes.Buffer
	on := &terminal.Terminal{Out: &written}
	if on.PrintJSON("no UTF-8: \xff"); on.Broken() == nil || written.Len() > 0 {
		t.Errorf("%q, %v", written.String(), on.Broken())
	}
	if want := "{\n  \"of_a_newer_stack\": \"a\\u009b2J\\u202e\\udb40\\udc01é\"\n}\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestStatus_saysWhetherSomethingIsWrong(t *testing.T) {
	sum := api.Summary{
		Endpoints: api.EndpointCounts{States: map[api.State]int{api.StateFailing: 1}},
		Causes: &api.Causes{Data: []api.Cause{{
			TenantID: "acme", Description: "crm", Reason: delivery.ReasonHTTP4xx, Count: 3,
			FirstDiedAt: now.Add(-12 * time.Minute),
		}}},
	}
	failing := api.ListedEndpoint{TenantID: "acme", Host: "evil\x1b[2J.example", Health: api.Health{
		State: api.StateFailing, LastReason: delivery.ReasonTimeout,
	}}
	f := fakeOf(to(api.GetSummary, sum), to(api.ListEndpoints, listOf(failing)))
	if out := f.ends(t, exit.Done, "status", "timeout"); strings.Contains(out, "\x1b") {
		t.Errorf("output %q", out)
	}
	sum.DeadLetters = map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 3}}
	f.say(to(api.GetSummary, sum))
	f.ends(t, exit.Unhealthy, "status", "  12m0s ago")
	f.say(to(api.GetSummary, api.Summary{
		Endpoints: api.EndpointCounts{States: map[api.State]int{api.StateOpen: 1}}, Causes: &api.Causes{},
	}))
	if out := f.ends(t, exit.Unhealthy, "status"); strings.Contains(out, "died of") {
		t.Errorf("shows causes without a dead letter:\n%s", out)
	}
}

// From the trouble to the act, no id is typed: names need no escaping, and ordinary ones fit a line.
func TestStatus_namesTheNextCommands(t *testing.T) {
	const id, other = "webhook_01KEXAMPLE0000000000000000", "webhook_01KEXAMPLE0000000000000001"
	cause := func(id, description string, state api.State) api.Cause {
		return api.Cause{TenantID: "acme", EndpointID: id, Description: description, State: state}
	}
	down, mail := cause(other, "mail", api.StateOpen), cause("webhook_2", "mail", api.StateOpen)
	const show, watch = "endpoints show acme/crm", "dead replay --endpoint acme/crm --watch"
	mailFirst := []string{"endpoints show acme/mail"}
	for name, c := range map[string]struct {
		causes []api.Cause
		want   []string
	}{
		"open":       {[]api.Cause{down}, mailFirst},
		"failing":    {[]api.Cause{cause(id, "crm", api.StateFailing)}, []string{show}},
		"healthy":    {[]api.Cause{cause(id, "crm", api.StateHealthy)}, []string{show, watch}},
		"two causes": {slices.Repeat([]api.Cause{cause(id, "crm", api.StateFlapping)}, 2), []string{show, watch}},
		"a space": {[]api.Cause{cause(id, "our crm", api.StateFlapping)}, []string{
			`endpoints show "acme/our crm"`, `dead replay --endpoint "acme/our crm" --watch`}},
		"a quote": {[]api.Cause{cause(id, "our'crm", api.StatePaused)}, []string{"endpoints show acme/" + id}},
		"one name": {[]api.Cause{down, cause("webhook_2", "mail", api.StatePaused)}, []string{
			"endpoints show acme/" + other, "endpoints show acme/webhook_2"}},
		"two open": {[]api.Cause{down, mail}, []string{"endpoints list --state open"}},
		"long": {[]api.Cause{cause(id, "a description that is longer than an id", api.StateRecovering)}, []string{
			"endpoints show acme/" + id, "dead replay --endpoint acme/" + id + " --watch"}},
		"down first": {[]api.Cause{cause(id, "crm", api.StateHealthy), down}, append(mailFirst, watch)},
		"open first": {
			[]api.Cause{cause(id, "crm", api.StateFailing), down}, append(mailFirst, show),
		},
		"failing is not": {
			[]api.Cause{cause(id, "crm", api.StateFailing), cause(other, "mail", api.StatePaused)}, append(mailFirst, show),
		},
	} {
		unreadable := api.Cause{Reason: delivery.ReasonUnreadable}
		f := fakeOf(to(api.ListEndpoints, listOf[api.ListedEndpoint]()), to(api.GetSummary, api.Summary{
			DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 2}},
			Queues:      map[string]api.Depth{"EventsDeadLetterQueue": {Visible: 1}},
			Causes:      &api.Causes{Data: append([]api.Cause{unreadable}, c.causes...)},
		}))
		_, _, words := f.play(t, "", "--stack", "prod", "status")
		var got []string
		for line := range strings.Lines(words) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "next: herald --stack prod "); ok {
				if got = append(got, command); len("herald --stack prod "+command) > 80 && name != "long" {
					t.Errorf("%s: more than a line: %s", name, line)
				}
			}
		}
		if diff := cmp.Diff(append(c.want, "rejected list"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		const views = 2 // and two calls to find the stack and its caller
		if len(f.requests) != views {
			t.Errorf("%d requests", len(f.requests))
		}
	}
}

func TestEndpoints_areActedOnOnlyIfAllAreFound(t *testing.T) {
	f := fakeOf(to(api.Pause, api.ControlAnswer{}), to(api.GetEndpoint, api.Endpoint{
		EndpointID: "webhook_1", TenantID: "acme", URL: "https://a.com", Description: "crm",
	}))
	code, _, words := f.play(t, "y\n", "endpoints", "pause", "acme/crm", "acme/a.com")
	if code != exit.Done || !strings.Contains(words, "Send nothing to acme/crm (https://a.com)") || len(f.requests) != 4 {
		t.Errorf("exit code %d, %d requests, %s", code, len(f.requests), words)
	}
	f.say(refusing(api.GetEndpoint, api.Refusal{Code: api.CodeNotFound, Message: "none"}))
	f.requests = nil
	if f.ends(t, exit.Failed, "-y endpoints pause acme/crmm", "refused: crmm: none"); len(f.requests) != 1 {
		t.Errorf("asked %v", f.requests)
	}
}

func TestJobs_showHasTheOutcomeAndTheFailures(t *testing.T) {
	const disabled = api.ReasonEndpointDisabled
	f := fakeOf(
		to(api.GetJob, api.Job{
			JobID: "job_1", Act: job.Replay, State: job.Done, Refused: map[string]int{disabled: 1},
		}),
		to(api.GetJobOutcome, api.JobOutcome{Sent: 2000, Delivered: 1999, DeadAgain: 1, NextCursor: new("c")}),
		to(api.ListJobFailures, listOf(api.JobFailure{ID: "msg_1", Result: api.ResultRefused, Reason: disabled})))
	f.ends(t, exit.Done, "jobs show job_1",
		"6,000 sent, 5,997 delivered, 3 dead again", "msg_1  refused  endpoint_disabled", "when it is active again")
	const most = 5
	if len(f.requests) > most {
		t.Errorf("%d requests", len(f.requests))
	}
}

func TestList_readsPagesUpToItsLimit(t *testing.T) {
	f := fakeOf(to(api.ListDeadLetters, api.List[api.DeadLetter]{
		Data: []api.DeadLetter{{DeliveryID: "a"}}, NextCursor: new("c"),
	}))
	const more = "more than 3: narrow the search, or raise --limit; herald status counts"
	out := f.ends(t, exit.Done, "-o json dead list --limit 3", more)
	var list api.List[api.DeadLetter]
	err := json.Unmarshal([]byte(out), &list)
	if err != nil || len(list.Data) != 3 || answers.Shown(list.NextCursor) != "c" {
		t.Errorf("%d rows, %v: %s", len(list.Data), err, out)
	}
	if f.requests[2]["cursor"] != "c" || f.requests[2]["limit"] != 1.0 {
		t.Errorf("asked %v", f.requests)
	}
}

// The reference's commands are played by TestReference_showsTheRequestsOfEachCommand.
func TestCommands_askForWhatTheirFlagsSay(t *testing.T) {
	for line, want := range map[string]sent{
		"deliveries find --endpoint webhook_1": {"action": "deliveries", "endpoint_id": "webhook_1", "limit": 100.0},
		"jobs list":                            {"action": "jobs", "limit": 20.0},
		"-y keys revoke hk_01_secret_part":     {"action": "revoke", "key_id": "01"},
	} {
		f := &fake{later: []string{emptyList}}
		f.ends(t, exit.Done, line)
		want["operator"] = "arn:aws:iam::1:user/ann"
		if diff := cmp.Diff([]sent{want}, f.requests); diff != "" {
			t.Errorf("%s asked (-want +got):\n%s", line, diff)
		}
	}
	new(fake).ends(t, exit.Usage, "--no-input keys revoke hk_01_secret", "End the key 01 for good")
}

func TestVersion_saysWhereTheProgramIs(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	new(fake).ends(t, exit.Done, "--version", program)
}
