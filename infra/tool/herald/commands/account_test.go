package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-json-experiment/json"

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
	audit   []string        // lines of the audit log, all of a minute ago
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
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "Logs_") {
		return a.filterLog(r)
	}
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

// filterLog answers with all lines of the audit log where the last minutes are asked for.
func (a *account) filterLog(r *http.Request) (status int, text string) {
	if a.denied == "logs" {
		return http.StatusForbidden, `{"__type":"AccessDeniedException","message":"not authorized"}`
	}
	var asked struct {
		EndTime int64 `json:"endTime"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	type event struct {
		Message   string `json:"message"`
		Timestamp int64  `json:"timestamp"`
	}
	events := []event{}
	for _, line := range a.audit {
		if at := now.Add(-time.Minute).UnixMilli(); at <= asked.EndTime {
			events = append(events, event{line, at})
		}
	}
	return http.StatusOK, written(map[string]any{"events": events})
}
