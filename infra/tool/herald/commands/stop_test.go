package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// account is AWS's answers about the resources of a stack: mappings to fanout and deliver, and release's schedule.
type account struct {
	mu      sync.Mutex
	enabled map[string]bool              // by the id of a mapping, and the name of the schedule
	tags    map[string]map[string]string // by ARN
	changes []string
	actions map[string]bool // of IAM, that were needed
	denied  string          // the path of the denied changes
}

const everyMinute = "every-minute"

func newAccount() *account {
	return &account{
		enabled: map[string]bool{"fanout": true, "deliver": true, everyMinute: true}, tags: map[string]map[string]string{},
		actions: map[string]bool{},
	}
}

func (a *account) config() aws.Config {
	return aws.Config{
		Region: "eu-central-1", HTTPClient: a, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		RetryMaxAttempts: 1,
	}
}

// Do answers CloudFormation, Lambda and EventBridge Scheduler.
func (a *account) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	status, text := a.answer(r)
	response := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
	if status == http.StatusForbidden {
		response.Header.Set("X-Amzn-ErrorType", "AccessDeniedException")
	}
	return response, nil
}

func (a *account) answer(r *http.Request) (status int, text string) {
	path := r.URL.Path
	if r.Method != http.MethodGet && path != "/" {
		if a.denied != "" && strings.Contains(path, a.denied) {
			return http.StatusForbidden, `{"message":"not authorized"}`
		}
		a.changes = append(a.changes, r.Method+" "+path)
	}
	kind, id, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case path == "/":
		a.actions["ListStackResources"] = true
		return http.StatusOK, a.resources()
	case strings.Contains(path, "/event-source-mappings/"):
		a.actions[map[string]string{"GET": "Get", "PUT": "Update"}[r.Method]+"EventSourceMapping"] = true
		return http.StatusOK, a.mapping(r, path[strings.LastIndexByte(path, '/')+1:])
	case strings.Contains(path, "/tags/"):
		_, arn, _ := strings.Cut(path, "/tags/")
		a.actions[map[string]string{"GET": "ListTags", "POST": "TagResource", "DELETE": "UntagResource"}[r.Method]] = true
		return http.StatusOK, a.tag(r, arn)
	case kind == "schedules":
		a.actions[map[string]string{"GET": "Get", "PUT": "Update"}[r.Method]+"Schedule"] = true
		return http.StatusOK, a.schedule(r, id)
	}
	return http.StatusNotFound, "{}"
}

func (a *account) resources() string {
	member := func(kind, name string) string {
		return "<member><LogicalResourceId>" + name + "</LogicalResourceId><ResourceType>" + kind +
			"</ResourceType><PhysicalResourceId>" + name + "</PhysicalResourceId></member>"
	}
	text := "<R><ListStackResourcesResult><StackResourceSummaries>"
	for name := range a.enabled {
		if name == everyMinute {
			text += member("AWS::Scheduler::Schedule", name)
		} else {
			text += member("AWS::Lambda::EventSourceMapping", name)
		}
	}
	return text + "</StackResourceSummaries></ListStackResourcesResult></R>"
}

func (a *account) mapping(r *http.Request, id string) string {
	if r.Method == http.MethodPut {
		var change struct{ Enabled bool }
		_ = json.UnmarshalRead(r.Body, &change)
		a.enabled[id] = change.Enabled
	}
	state := map[bool]string{true: "Enabled", false: "Disabled"}[a.enabled[id]]
	return fmt.Sprintf(`{"UUID":%q,"State":%q,"FunctionArn":"arn:aws:lambda:eu-central-1:1:function:h-%[1]s",`+
		`"EventSourceArn":"arn:aws:sqs:eu-central-1:1:q"}`, id, state)
}

func (a *account) schedule(r *http.Request, name string) string {
	if r.Method == http.MethodPut {
		var change struct{ State string }
		_ = json.UnmarshalRead(r.Body, &change)
		a.enabled[name] = change.State == "ENABLED"
	}
	state := map[bool]string{true: "ENABLED", false: "DISABLED"}[a.enabled[name]]
	return fmt.Sprintf(`{"Name":%q,"State":%q,"FlexibleTimeWindow":{"Mode":"OFF"},"ScheduleExpression":"rate(1 minute)",`+
		`"Target":{"Arn":"arn:aws:lambda:eu-central-1:1:function:h-release","RoleArn":"arn:aws:iam::1:role/r"}}`, name, state)
}

func (a *account) tag(r *http.Request, arn string) string {
	arn, _ = url.PathUnescape(arn)
	switch r.Method {
	case http.MethodPost:
		var change struct{ Tags map[string]string }
		_ = json.UnmarshalRead(r.Body, &change)
		a.tags[arn] = change.Tags
	case http.MethodDelete:
		delete(a.tags, arn)
	}
	text, _ := json.Marshal(map[string]any{"Tags": a.tags[arn]})
	return string(text)
}

// play runs a command line on a stack of the account.
func (a *account) play(t *testing.T, input, line string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	on := &terminal.Terminal{In: strings.NewReader(input), Out: &out, Err: &out, Now: clock, Asks: true}
	connect := func(context.Context, stack.Where) (stack.Stack, error) {
		return stack.Stack{Name: "herald-prod", AWS: a.config(), Status: "UPDATE_COMPLETE"}, nil
	}
	code = Run(t.Context(), append([]string{"herald"}, strings.Fields(line)...), on, connect)
	return code, out.String()
}

func TestStop_turnsOffWhatIsOn_andStartTurnsItOnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.enabled["deliver"] = false // by hand, before
		code, said := a.play(t, "y\n", "stop")
		contains(t, said, "herald-prod in eu-central-1: Turn off 2", "q to h-deliver         was off before",
			"schedule of h-release  stopped", "for up to 14 days")
		all := map[string]bool{"fanout": false, "deliver": false, everyMinute: false}
		if diff := cmp.Diff(all, a.enabled); diff != "" || code != exit.Done {
			t.Fatalf("exit code %d (-want +got):\n%s", code, diff)
		}
		mark := map[string]string{"herald:stopped": "2026-05-02T09:00:00Z"}
		marks := map[string]map[string]string{
			"arn:aws:lambda:eu-central-1:1:event-source-mapping:fanout": mark,
			"arn:aws:lambda:eu-central-1:1:function:h-release":          mark,
		}
		if diff := cmp.Diff(marks, a.tags); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
		changes := len(a.changes)
		if code, said = a.play(t, "", "-y stop"); code != exit.Done || len(a.changes) > changes {
			t.Errorf("a second stop: exit code %d, %s", code, said)
		}
		contains(t, said, "nothing to stop", "q to h-fanout          off  0s ago")

		code, said = a.play(t, "y\n", "start")
		contains(t, said, "q to h-fanout          off  0s ago      start\n", "herald-prod in eu-central-1: Turn on 2",
			"q to h-deliver         stays off", "started")
		all = map[string]bool{"fanout": true, "deliver": false, everyMinute: true}
		if diff := cmp.Diff(all, a.enabled); diff != "" || code != exit.Done || len(a.tags) > 0 {
			t.Errorf("exit code %d, marks %v (-want +got):\n%s", code, a.tags, diff)
		}
		code, said = a.play(t, "", "-y start")
		if contains(t, said, "nothing to start"); code != exit.Done {
			t.Errorf("a start without a stop: exit code %d", code)
		}
	})
}

// Threat of an operator: stops everything, or starts what others have stopped. Held by: no policy of the stack allows
// it; a tag marks each switch that it turned off.
func TestStop_asksFirst(t *testing.T) {
	for input, line := range map[string]string{
		"n\n": "stop", "": "stop", "y\n": "--no-input stop", "y": "--dry-run stop",
	} {
		a := newAccount()
		if _, said := a.play(t, input, line); len(a.changes) > 0 {
			t.Errorf("%q, herald %s: %v, %s", input, line, a.changes, said)
		}
	}
}

func TestStop_saysWhatIsLeftToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		a.denied = "/schedules/"
		code, said := a.play(t, "", "-y stop")
		contains(t, said, "schedule of h-release (rights: infra/docs/recovery.md): you have no right",
			"1 of 3 were not turned: run herald stop again")
		if code != exit.Unhealthy || a.enabled["fanout"] || !a.enabled[everyMinute] {
			t.Errorf("exit code %d, %v", code, a.enabled)
		}
		a.denied = ""
		before := maps.Clone(a.tags)
		code, said = a.play(t, "", "-y stop")
		if contains(t, said, "stopped before", "stopped\n"); code != exit.Done || len(a.tags) != 3 {
			t.Errorf("exit code %d, marked %v, before %v", code, a.tags, before)
		}
		code, _ = a.play(t, "", "-y start")
		if code != exit.Done || !a.enabled[everyMinute] || !a.enabled["fanout"] {
			t.Errorf("exit code %d, %v", code, a.enabled)
		}
	})
}

func TestStop_interruptedSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		ctx, cancel := context.WithCancel(t.Context())
		cancelling := &cancels{account: a, after: 2, cancel: cancel}
		var out bytes.Buffer
		on := &terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &out, Now: clock}
		config := a.config()
		config.HTTPClient = cancelling
		connect := func(context.Context, stack.Where) (stack.Stack, error) {
			return stack.Stack{Name: "herald-prod", AWS: config, Status: "UPDATE_IN_PROGRESS"}, nil
		}
		code := Run(ctx, []string{"herald", "-y", "stop"}, on, connect)
		contains(t, out.String(), "a deployment is under way", "interrupted: run herald stop again")
		if code != exit.Unhealthy {
			t.Errorf("exit code %d: %s", code, &out)
		}
	})
}

// cancels interrupts the command at a change.
type cancels struct {
	*account
	after  int
	cancel context.CancelFunc
}

func (c *cancels) Do(r *http.Request) (*http.Response, error) {
	response, err := c.account.Do(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.changes) >= c.after {
		c.cancel()
	}
	return response, err
}

// The page has the commands, and names the rights that they take.
func TestRecovery_stopsAndStartsWithTheRightsThatItNames(t *testing.T) {
	text, err := os.ReadFile("../../../docs/recovery.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^herald --stack herald-prod (.*)$`).FindAllStringSubmatch(string(text), -1)
	_, rights, _ := strings.Cut(string(text), "**Rights.** ")
	rights, _, _ = strings.Cut(rights, "\n\n")
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		var played []string
		for _, c := range commands {
			if code, said := a.play(t, "y\n", c[1]); code != exit.Done {
				t.Errorf("herald %s: exit code %d: %s", c[1], code, said)
			}
			played = append(played, fmt.Sprint(c[1], " ", a.enabled["fanout"]))
		}
		if diff := cmp.Diff([]string{"stop false", "start true"}, played); diff != "" {
			t.Errorf("commands, and whether a mapping is on after each (-want +got):\n%s", diff)
		}
		for action := range a.actions {
			if !strings.Contains(rights, action+"`") {
				t.Errorf("the page does not name the right %s", action)
			}
		}
		if len(a.actions) != 8 {
			t.Errorf("took %v", a.actions)
		}
	})
}
