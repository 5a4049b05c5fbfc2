package verify

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// summarized answers each request to Lambda with a summary.
type summarized string

func (s summarized) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(string(s)))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

func TestInFIPSMode_saysWhatTheFunctionsSay(t *testing.T) {
	for name, row := range map[string]struct {
		answer    string
		endpoints bool
		says      string
		err       string
	}{
		"off":               {answer: "{}", err: errNothingToSay.Error()},
		"on":                {answer: `{"fips_module":"v1.0.0"}`, says: "v1.0.0; AWS is not called by its FIPS endpoints"},
		"on with endpoints": {answer: `{"fips_module":"v1.0.0"}`, endpoints: true, says: "v1.0.0, and FIPS endpoints of AWS"},
		"endpoints alone":   {answer: "{}", endpoints: true, err: "make package FIPS=1"},
	} {
		c := &client.Client{State: statefile.State{Functions: map[string]string{"inspect": "inspect"}}}
		c.Lambda = lambda.NewFromConfig(aws.Config{Region: "us-east-1", HTTPClient: summarized(row.answer)},
			func(o *lambda.Options) { o.Credentials = aws.AnonymousCredentials{} })
		says, err := inFIPSMode(t.Context(), &run{Config: Config{Client: c, FIPSEndpoints: row.endpoints}})
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", name, err, row.err)
		}
		if !strings.Contains(says, row.says) || (says == "") != (row.says == "") {
			t.Errorf("%s: says %q, want %q", name, says, row.says)
		}
	}
}

// A step that is not about the stack leaves no line in the report.
func TestRun_leavesOutStepsThatAreNotAboutTheStack(t *testing.T) {
	before := steps
	t.Cleanup(func() { steps = before })
	silent := func(context.Context, *run) (string, error) { return "", errNothingToSay }
	spoken := func(context.Context, *run) (string, error) { return "", errors.New("broken") }
	steps = append(steps[:0:0], steps[0], steps[1])
	steps[0].run, steps[1].run = silent, spoken
	var told []Result
	results, ok := Run(t.Context(), Config{Progress: func(r Result) { told = append(told, r) }})
	if ok || len(results) != 1 || len(told) != 1 || results[0].Step != before[1].name {
		t.Errorf("%v, %t; told %v", results, ok, told)
	}
}
