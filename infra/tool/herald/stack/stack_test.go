package stack

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// cloud answers DescribeStacks: about all stacks, about one, or that no stack has the name.
type cloud struct{ stacks, one string }

func (c cloud) Do(r *http.Request) (*http.Response, error) {
	named := r.FormValue("StackName") != ""
	if named {
		c.stacks = c.one
	}
	w, text := httptest.NewRecorder(), `<DescribeStacksResponse><DescribeStacksResult><Stacks>`+c.stacks+
		`</Stacks></DescribeStacksResult></DescribeStacksResponse>`
	if r.FormValue("Action") == "GetCallerIdentity" {
		text = `<R><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/ann</Arn><Account>111122223333</Account>` +
			`</GetCallerIdentityResult></R>`
	} else if named && c.one == "" {
		w.WriteHeader(http.StatusBadRequest)
		text = `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>` +
			`<Message>Stack with id herald-prod does not exist</Message></Error></ErrorResponse>`
	}
	_, err := io.WriteString(w, text)
	return w.Result(), err
}

// member is a stack with outputs, each as NAME=VALUE.
func member(name string, outputs ...string) string {
	text := `<member><StackName>` + name + `</StackName><Outputs>`
	for _, o := range outputs {
		key, value, _ := strings.Cut(o, "=")
		text += `<member><OutputKey>` + key + `</OutputKey><OutputValue>` + value + `</OutputValue></member>`
	}
	return text + `</Outputs></member>`
}

func credentialed(c cloud) aws.Config {
	return aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""), HTTPClient: c,
	}
}

func TestStack_find_namesTheStacksThatThereAre(t *testing.T) {
	const output, other = "Product=Herald 1.0.0", "InspectFunctionName=shop-inspect"
	ours := member("herald-test", output) + member("shop", "Url", other) + member("herald-dev", output)
	for name, row := range map[string]struct {
		stack, stacks, want string
		code                int
	}{
		"another name": {
			"herald-prod", ours, "no stack herald-prod in eu-central-1: the stacks are herald-dev, herald-test", exit.Failed,
		},
		"no name, and several": {
			"", ours, "say which stack, with --stack: the stacks are herald-dev, herald-test", exit.Usage,
		},
		"another region": {
			"", member("shop", "Url"),
			"say which stack, with --stack: there is no Herald stack in eu-central-1; is it the right region and account?",
			exit.Usage,
		},
	} {
		s := Stack{Name: row.stack, AWS: credentialed(cloud{stacks: row.stacks})}
		var failed *exit.Error
		if err := s.find(t.Context()); !errors.As(err, &failed) || failed.Text != row.want || failed.Code != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Secrets and events go where the outputs say, and the maker of a stack writes them.
//
// Threat of the account: has `herald` send secrets to a stack that looks like Herald's. Held by: functions and queue
// are in the caller's account, which `--account` names.
func TestStack_find_refusesWhatIsNotInTheAccount(t *testing.T) {
	const (
		ours, inspect = "Product=Herald 1.0.0", "InspectFunctionName=h-inspect"
		host, replay  = "EventsQueueUrl=https://sqs.eu-central-1.amazonaws.com", "ReplayFunctionName="
		queue         = host + "/111122223333/h"
		elsewhere     = "arn:aws:lambda:eu-central-1:999922223333:function:h-replay"
	)
	for name, row := range map[string]struct {
		outputs []string
		want    string
	}{
		"ours":                    {[]string{ours, inspect, queue}, ""},
		"of a checkout":           {[]string{"Product=Herald checkout", inspect, queue}, ""},
		"with replay's alias":     {[]string{ours, inspect, queue, replay + "h-replay:delete"}, ""},
		"with apikeys's alias":    {[]string{ours, inspect, queue, "ApikeysRevokeFunctionName=h-apikeys:revoke"}, ""},
		"with inspect's alias":    {[]string{ours, inspect, queue, "InspectScanFunctionName=h-inspect:scan"}, ""},
		"no product":              {[]string{inspect, queue}, "not a stack of Herald"},
		"another product":         {[]string{"Product=Heraldry 1.0.0", inspect, queue}, "not a stack of Herald"},
		"no functions":            {[]string{ours, queue}, "not a stack of Herald"},
		"no queue":                {[]string{ours, inspect}, "EventsQueueUrl"},
		"another account's queue": {[]string{ours, inspect, host + "/999922223333/h"}, "EventsQueueUrl"},
		"a queue that is none":    {[]string{ours, inspect, host + "/111122223333"}, "EventsQueueUrl"},
		"a function elsewhere":    {[]string{ours, inspect, queue, replay + elsewhere}, "ReplayFunctionName"},
		"a partial ARN":           {[]string{ours, inspect, queue, replay + "999922223333:h"}, "ReplayFunctionName"},
		"a function named delete": {[]string{ours, inspect, queue, replay + "999922223333:delete"}, "ReplayFunctionName"},
		"a version of it":         {[]string{ours, inspect, queue, replay + "h-replay:1"}, "ReplayFunctionName"},
		"no name":                 {[]string{ours, inspect, queue, replay}, "ReplayFunctionName"},
	} {
		s := Stack{Name: "h", Account: "111122223333", AWS: credentialed(cloud{one: member("h", row.outputs...)})}
		err := s.find(t.Context())
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

func TestStack_identify_takesNoOtherAccountThanTheNamedOne(t *testing.T) {
	for named, refused := range map[string]bool{"": false, "111122223333": false, "999922223333": true} {
		s := Stack{AWS: credentialed(cloud{})}
		err := s.identify(t.Context(), named)
		if (err != nil) != refused || !refused && (s.Account != "111122223333" || s.Operator == "") {
			t.Errorf("--account %q: %v, %+v", named, err, s)
		}
		var failed *exit.Error
		if refused && (!errors.As(err, &failed) || failed.Code != exit.Denied) {
			t.Errorf("--account %q: %v", named, err)
		}
	}
}

// denied is the SDK's error of a request without a right.
func denied(service, operation string) error {
	return &smithy.OperationError{
		ServiceID: service, OperationName: operation, Err: &smithy.GenericAPIError{Code: "AccessDeniedException"},
	}
}

func TestStack_explain_saysWhatToDo(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, row := range map[string]struct {
		stack, want string
		err         error
		code        int
	}{
		"expired credentials": {"p", "log in again", &smithy.GenericAPIError{Code: "ExpiredTokenException"}, exit.Denied},
		"wrong credentials":   {"p", "no right", &smithy.GenericAPIError{Code: "InvalidClientTokenId"}, exit.Denied},
		"a role that may inspect only": {
			"p", "the stack's policy InstanceManagers", &smithy.GenericAPIError{Code: "AccessDeniedException"}, exit.Denied,
		},
		"a role that may not read the log": {
			"p", "no right to do that (logs:StartQuery); the stack's policy InstanceManagers",
			denied("CloudWatch Logs", "StartQuery"), exit.Denied,
		},
		"a role that may not invoke": {"p", "(lambda:InvokeFunction)", denied("Lambda", "Invoke"), exit.Denied},
		"a role that may not list stacks": {
			"p", "(cloudformation:DescribeStacks)", denied("CloudFormation", "DescribeStacks"), exit.Denied,
		},
		"a service without a name": {"p", "no right to do that;", denied("Scheduler", "GetSchedule"), exit.Denied},
		"no credentials":           {"p", "log in, or give --profile", errors.New("get credentials: none"), exit.Denied},
		"the stack is gone": {
			"p", "p is gone", &smithy.GenericAPIError{Code: "ResourceNotFoundException"}, exit.Failed,
		},
		"no network":              {"p", "AWS cannot be reached", refused, exit.Failed},
		"the local stack is gone": {Local, "run this again", refused, exit.Failed},
	} {
		s := Stack{Name: row.stack}
		var failed *exit.Error
		err := s.Explain("invoking replay", row.err)
		if !errors.As(err, &failed) || failed.Code != row.code || !strings.Contains(failed.Text, row.want) ||
			!strings.HasPrefix(failed.Text, "invoking replay: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	throttled := Stack{}.Explain("invoking replay", &smithy.GenericAPIError{Code: "Throttling", Message: "credentials"})
	if errors.As(throttled, new(*exit.Error)) {
		t.Errorf("an answer of AWS is taken for no credentials: %v", throttled)
	}
}

func TestFault_saysWhetherAnythingWasStarted(t *testing.T) {
	for want, c := range map[string]struct {
		q      Question
		failed client.Fault
	}{
		" failed: internal error. Nothing was started. Asking again is safe.": {
			Question{Function: api.Inspect}, client.Fault{Message: "internal error"}},
		" ran out of time: select less, or ask again later. Nothing was started. Asking again is safe.": {
			Question{Function: api.Replay, Request: api.StartJobRequest{DryRun: true}},
			client.Fault{Message: "Task timed out after 30.00 seconds"}},
		" failed: it gave no reason. Asking again is safe.": {
			Question{Function: api.Replay, Request: api.StartJobRequest{}}, client.Fault{}},
	} {
		if got := fault(c.q, &c.failed); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
