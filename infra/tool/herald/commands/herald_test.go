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
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// fake answers the requests of a command, by action, and keeps them.
type fake struct {
	sync.Mutex                   // status asks twice at the same time
	answers    map[string]string // by function and action
	later      []string          // in turn, where answers has none; "" is a fault
	requests   []answers.Row
	asked      []string                     // the functions, of each request
	sought     bool                         // the stack was
	cloud      *account                     // all else of AWS
	handlers   map[string]*webhooks.Handler // functions that answer for themselves
}

func (f *fake) Invoke(
	ctx context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	var r answers.Row
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
	if causes := f.answers["inspect causes"]; r["causes"] == true && causes != "" {
		answer = strings.TrimSuffix(answer, "}") + `,"causes":` + causes + "}"
	}
	if !ok {
		return nil, exit.With(exit.Failed, "unexpected %s %s", *in.FunctionName, in.Payload)
	}
	return &lambda.InvokeOutput{Payload: []byte(answer)}, nil
}

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
			"replaydelete": "replay:delete",
		}
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
	f := &fake{answers: map[string]string{"replay start_job": `{"selected":12,"ready":10,
		"refused":{"endpoint_deleted":2},"complete":true,"until":"2026-01-03T08:00:00Z","job":{"job_id":"job_1"}}`,
		"inspect causes": `{"data":[
			{"tenant_id":"acme","description":"crm","state":"open","reason":"http_5xx","count":10}]}`}}
	code, out, words := f.play(t, "y\n", "dead", "replay", "--tenant", "acme", "--since", "22:00")
	if code != exit.Done || out != "job_1\n" || len(f.requests) != 3 {
		t.Fatalf("exit code %d, %d requests, output %q, %s", code, len(f.requests), out, words)
	}
	counted, started := f.requests[0], f.requests[2]
	selected := answers.Row{
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
		"since 2026-05-01T22:00:00Z\n", "12 selected, 10 can be done", "cannot be done: 2 endpoint_deleted", "Replay 10")
}

func TestBulk_findsAnEndpointByItsHost(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect endpoint": `{"endpoint_id":"webhook_1"}`, "replay start_job": `{"selected":1,"ready":1,"complete":true}`,
	}}
	f.ends(t, exit.Done, "--dry-run dead replay --endpoint acme/hooks.example.com --reason timeout")
	asked := []answers.Row{} // fields that select letters, inspect refuses about an endpoint
	for _, r := range f.requests[:2] {
		asked = append(asked,
			answers.Row{"endpoint_id": r["endpoint_id"], "tenant_id": r["tenant_id"], "reason": r["reason"]})
	}
	want := []answers.Row{
		{"endpoint_id": "hooks.example.com", "tenant_id": "acme", "reason": nil},
		{"endpoint_id": "webhook_1", "tenant_id": "acme", "reason": "timeout"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	f = &fake{answers: map[string]string{"inspect endpoint": `{"error":{"code":"invalid_field","message":"several"}}`}}
	if f.ends(t, exit.Usage, "-y dead replay --tenant acme --endpoint orders", "several"); len(f.requests) != 1 {
		t.Errorf("asked %v", f.requests)
	}
}

func TestBulk_nothingSelectedIsDone_nothingPossibleFailed(t *testing.T) {
	for answer, want := range map[string]int{
		`{"selected":0,"ready":0,"complete":true}`:                     exit.Done,
		`{"selected":2,"ready":0,"complete":true,"refused":{"why":2}}`: exit.Failed,
	} {
		f := &fake{answers: map[string]string{"replay start_job": answer}}
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
		f := &fake{answers: map[string]string{"replay start_job": `{"selected":1,"ready":1,"complete":true,"job":null}`}}
		_, _, words := f.play(t, input, args...)
		if hint := "y/N] \nherald: nothing was done: add --yes"; strings.Contains(words, hint) != (input == "") {
			t.Errorf("input %q: %s", input, words)
		}
		acts := slices.DeleteFunc(f.requests, func(r answers.Row) bool { return r["action"] == "causes" })
		if len(acts) != 1 || acts[0]["dry_run"] != true {
			t.Errorf("input %q: %v", input, f.requests)
		}
	}
}

func TestExitCodes(t *testing.T) {
	refused := func(code string) string {
		return `{"error":{"code":"` + code + `","message":"\u001b[2Jno","field":"tenant_id"}}`
	}
	for name, c := range map[string]struct {
		args   []string
		answer string
		want   int
	}{
		"a refusal":                 {[]string{"deliveries", "show", "x"}, refused("not_found"), exit.Failed},
		"a value that is refused":   {[]string{"deliveries", "show", "x"}, refused("invalid_field"), exit.Usage},
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
		"acts that were not done":   {[]string{"-y", "dead", "replay", "a"}, `{"data":[{"result":"no"}]}`, exit.Unhealthy},
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
		f := &fake{answers: map[string]string{"inspect endpoint": `{"tenant_id":"b"}`,
			"replay deliveries": `{"data":[{"result":"no"}]}`},
			later: []string{`{}`, `{"error":{"code":"not_found","message":"webhook_2"}}`}}
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
	answer, err := json.Marshal(answers.Row{"host": name})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{answers: map[string]string{"inspect delivery": string(answer)}}
	out := f.ends(t, exit.Done, "-o json deliveries show x")
	var got answers.Row
	if err := json.Unmarshal([]byte(out), &got); err != nil || got["host"] != name {
		t.Errorf("%v, %v", err, got)
	}
	var written bytes.Buffer
	on := &terminal.Terminal{Out: &written}
	if on.PrintJSON("no UTF-8: \xff"); on.Broken() == nil || written.Len() > 0 {
		t.Errorf("%q, %v", written.String(), on.Broken())
	}
	if want := "{\n  \"host\": \"a\\u009b2J\\u202e\\udb40\\udc01é\"\n}\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestStatus_saysWhetherSomethingIsWrong(t *testing.T) {
	well := `{"endpoints":{"states":{"failing":1}},"waiting":{},"dead_letters":{"dead":{"count":0}},"queues":{}}`
	trouble := `{"data":[{"tenant_id":"acme","host":"evil\u001b[2J.example","state":"failing","last_reason":"timeout"}],
		"next_cursor":null}`
	f := &fake{answers: map[string]string{
		"inspect summary": well, "inspect endpoints": trouble,
		"inspect causes": `{"data":[{"tenant_id":"acme","description":"crm","reason":"http_4xx","count":3,
			"first_died_at":"2026-05-02T08:48:00Z"}]}`,
	}}
	if out := f.ends(t, exit.Done, "status", "timeout"); strings.Contains(out, "\x1b") {
		t.Errorf("output %q", out)
	}
	f.answers["inspect summary"] = strings.Replace(well, `"count":0`, `"count":3`, 1)
	f.ends(t, exit.Unhealthy, "status", "  12m0s ago")
	f.answers["inspect summary"] = strings.Replace(well, `"failing"`, `"open"`, 1)
	f.answers["inspect causes"] = `{"data":[]}`
	if out := f.ends(t, exit.Unhealthy, "status"); strings.Contains(out, "died of") {
		t.Errorf("shows causes without a dead letter:\n%s", out)
	}
}

// From the trouble to the act, no id is typed: names need no escaping, and ordinary ones fit a line.
func TestStatus_namesTheNextCommands(t *testing.T) {
	const id, other = "webhook_01KEXAMPLE0000000000000000", "webhook_01KEXAMPLE0000000000000001"
	cause := func(id, description, state string) string {
		return `{"tenant_id":"acme","endpoint_id":"` + id + `","description":"` + description + `","state":"` + state + `"}`
	}
	down, mail := cause(other, "mail", "open"), cause("webhook_2", "mail", "open")
	const show, watch = "endpoints show acme/crm", "dead replay --endpoint acme/crm --watch"
	mailFirst := []string{"endpoints show acme/mail"}
	for name, c := range map[string]struct {
		causes string
		want   []string
	}{
		"open":       {down, mailFirst},
		"failing":    {cause(id, "crm", "failing"), []string{show}},
		"healthy":    {cause(id, "crm", "healthy"), []string{show, watch}},
		"two causes": {cause(id, "crm", "flapping") + "," + cause(id, "crm", "flapping"), []string{show, watch}},
		"a space": {cause(id, "our crm", "flapping"), []string{
			`endpoints show "acme/our crm"`, `dead replay --endpoint "acme/our crm" --watch`}},
		"a quote":  {cause(id, "our'crm", "paused"), []string{"endpoints show acme/" + id}},
		"one name": {down + "," + mail, []string{"endpoints show acme/" + other}},
		"long": {cause(id, "a description that is longer than an id", "recovering"), []string{
			"endpoints show acme/" + id, "dead replay --endpoint acme/" + id + " --watch"}},
		"down first":     {cause(id, "crm", "healthy") + "," + down, append(mailFirst, watch)},
		"open first":     {cause(id, "crm", "failing") + "," + cause(id, "log", "paused") + "," + down, mailFirst},
		"failing is not": {cause(id, "crm", "failing") + "," + cause(other, "mail", "paused"), mailFirst},
	} {
		f := &fake{answers: map[string]string{
			"inspect summary": `{"dead_letters":{"dead":{"count":2}},"queues":{"EventsDeadLetterQueue":{"visible":1}}}`,
			"inspect causes":  `{"data":[{"reason":"unreadable"},` + c.causes + `]}`, "inspect endpoints": `{"data":[]}`,
		}}
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
	found := `{"endpoint_id":"webhook_1","tenant_id":"acme","url":"https://a.com","description":"crm"}`
	f := &fake{answers: map[string]string{"inspect endpoint": found, "control pause": `{}`}}
	code, _, words := f.play(t, "y\n", "endpoints", "pause", "acme/crm", "acme/a.com")
	if code != exit.Done || !strings.Contains(words, "Send nothing to acme/crm (https://a.com)") || len(f.requests) != 4 {
		t.Errorf("exit code %d, %d requests, %s", code, len(f.requests), words)
	}
	f.answers["inspect endpoint"], f.requests = `{"error":{"code":"not_found","message":"none"}}`, nil
	if f.ends(t, exit.Failed, "-y endpoints pause acme/crmm", "refused: crmm: none"); len(f.requests) != 1 {
		t.Errorf("asked %v", f.requests)
	}
}

func TestJobs_showHasTheOutcomeAndTheFailures(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect job":          `{"job_id":"job_1","act":"replay","state":"done","refused":{"endpoint_disabled":1}}`,
		"inspect job_outcome":  `{"sent":2000,"delivered":1999,"dead_again":1,"next_cursor":"c"}`,
		"inspect job_failures": `{"data":[{"id":"msg_1","result":"refused","reason":"endpoint_disabled"}]}`,
	}}
	f.ends(t, exit.Done, "jobs show job_1",
		"outcome.sent               6000", "msg_1  refused  endpoint_disabled", "when it is active again")
	const most = 5
	if len(f.requests) > most {
		t.Errorf("%d requests", len(f.requests))
	}
}

func TestList_readsPagesUpToItsLimit(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect dead_letters": `{"data":[{"delivery_id":"a"}],"next_cursor":"c"}`}}
	const more = "more than 3: narrow the search, or raise --limit; herald status counts"
	out := f.ends(t, exit.Done, "-o json dead list --limit 3", more)
	var list answers.Row
	err := json.Unmarshal([]byte(out), &list)
	if rows := answers.Rows(list); err != nil || len(rows) != 3 || list["next_cursor"] != "c" {
		t.Errorf("%d rows, %v: %s", len(rows), err, out)
	}
	if f.requests[2]["cursor"] != "c" || f.requests[2]["limit"] != 1.0 {
		t.Errorf("asked %v", f.requests)
	}
}

// The reference's commands are played by TestReference_showsTheRequestsOfEachCommand.
func TestCommands_askForWhatTheirFlagsSay(t *testing.T) {
	for line, want := range map[string]answers.Row{
		"deliveries find --endpoint webhook_1": {"action": "deliveries", "endpoint_id": "webhook_1", "limit": 100.0},
		"jobs list":                            {"action": "jobs", "limit": 20.0},
		"-y keys revoke hk_01_secret_part":     {"action": "revoke", "key_id": "01"},
	} {
		f := &fake{later: []string{`{"data":[],"next_cursor":null}`}}
		f.ends(t, exit.Done, line)
		want["operator"] = "arn:aws:iam::1:user/ann"
		if diff := cmp.Diff([]answers.Row{want}, f.requests); diff != "" {
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
