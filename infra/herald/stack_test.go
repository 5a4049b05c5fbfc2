package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
)

// cloud answers DescribeStacks: of all stacks, or that there is none of a name.
type cloud struct{ stacks string }

func (c cloud) Do(r *http.Request) (*http.Response, error) {
	w, text := httptest.NewRecorder(), `<DescribeStacksResponse><DescribeStacksResult><Stacks>`+c.stacks+
		`</Stacks></DescribeStacksResult></DescribeStacksResponse>`
	if r.FormValue("StackName") != "" {
		w.WriteHeader(http.StatusBadRequest)
		text = `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>` +
			`<Message>Stack with id herald-prod does not exist</Message></Error></ErrorResponse>`
	}
	_, err := io.WriteString(w, text)
	return w.Result(), err
}

func member(name, output string) string {
	return `<member><StackName>` + name + `</StackName><Outputs><member><OutputKey>` + output +
		`</OutputKey><OutputValue>x</OutputValue></member></Outputs></member>`
}

func TestStack_find_namesTheStacksThatThereAre(t *testing.T) {
	const output = "InspectFunctionName"
	ours := member("herald-test", output) + member("shop", "Url") + member("herald-dev", output)
	for name, row := range map[string]struct {
		stack, stacks, want string
		code                int
	}{
		"another name": {
			"herald-prod", ours, "no stack herald-prod in eu-central-1: stacks there are herald-dev, herald-test", exitFailed,
		},
		"no name, and several": {
			"", ours, "say which stack, with --stack: stacks there are herald-dev, herald-test", exitUsage,
		},
		"another region": {
			"", member("shop", "Url"),
			"say which stack, with --stack: there are none of Herald in eu-central-1; is it the right region and account?",
			exitUsage,
		},
	} {
		s := stack{name: row.stack, aws: aws.Config{
			Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
			HTTPClient: cloud{row.stacks},
		}}
		var failed *failure
		if err := s.find(t.Context()); !errors.As(err, &failed) || failed.text != row.want || failed.code != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStack_explain_saysWhatToDo(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, row := range map[string]struct {
		stack, want string
		err         error
		code        int
	}{
		"expired credentials": {"p", "log in again", &smithy.GenericAPIError{Code: "ExpiredTokenException"}, exitDenied},
		"wrong credentials":   {"p", "no right", &smithy.GenericAPIError{Code: "InvalidClientTokenId"}, exitDenied},
		"a role that may inspect only": {
			"p", "the stack's policies InstanceManagers", &smithy.GenericAPIError{Code: "AccessDeniedException"}, exitDenied,
		},
		"no credentials": {"p", "log in, or give --profile", errors.New("get credentials: none"), exitDenied},
		"the stack has gone": {
			"p", "p has gone", &smithy.GenericAPIError{Code: "ResourceNotFoundException"}, exitFailed,
		},
		"no network":               {"p", "AWS cannot be reached", refused, exitFailed},
		"the local stack has gone": {localStack, "start it again", refused, exitFailed},
	} {
		s := stack{name: row.stack}
		var failed *failure
		err := s.explain("invoking replay", row.err)
		if !errors.As(err, &failed) || failed.code != row.code || !strings.Contains(failed.text, row.want) ||
			!strings.HasPrefix(failed.text, "invoking replay: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	throttled := stack{}.explain("invoking replay", &smithy.GenericAPIError{Code: "Throttling", Message: "credentials"})
	if errors.As(throttled, new(*failure)) {
		t.Errorf("an answer of AWS is taken for no credentials: %v", throttled)
	}
}

func TestStack_pace_isThatOfTheParameters(t *testing.T) {
	waits, processes, err := stack{parameters: map[string]string{
		"RetryBaseSeconds": "5", "RetryFactor": "4", "MaxRetries": "3", "DeliverMaximumConcurrency": "7",
	}}.pace()
	want := []time.Duration{5 * time.Second, 20 * time.Second, 80 * time.Second}
	if !slices.Equal(waits, want) || processes != 7 || err != nil {
		t.Errorf("%v, %d, %v", waits, processes, err)
	}
	if _, _, err := (stack{}).pace(); err == nil {
		t.Error("no parameters are a pace")
	}
}

func TestFault_saysWhetherAnythingWasStarted(t *testing.T) {
	for _, c := range []struct {
		function     string
		request      fields
		answer, want string
	}{
		{"inspect", nil, `{"errorMessage":"internal error"}`,
			" failed: internal error. Nothing was started. Asking again is safe."},
		{"replay", fields{"dry_run": true}, `{"errorMessage":"Task timed out after 30.00 seconds"}`,
			" ran out of time: select less, or ask again later. Nothing was started. Asking again is safe."},
		{"replay", nil, `<html>`, " failed: it gave no reason. Asking again is safe."},
	} {
		if got := fault(c.function, c.request, []byte(c.answer)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
