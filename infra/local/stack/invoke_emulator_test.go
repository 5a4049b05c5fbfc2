//go:build emulator

package stack

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

func invoke(t *testing.T, s *Stack, payload string) (*lambda.InvokeOutput, map[string]any) {
	t.Helper()
	client := lambda.NewFromConfig(s.aws(s.AWSEndpointURL))
	out, err := client.Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String(s.Functions["work"]), Payload: []byte(payload),
	})
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(out.Payload, &answer); err != nil {
		t.Fatalf("answer %s: %v", out.Payload, err)
	}
	return out, answer
}

func invokesAsLambdaDoes(t *testing.T, s *Stack) {
	t.Helper()
	out, first := invoke(t, s, `{"a":1}`)
	if out.StatusCode != http.StatusOK || out.FunctionError != nil {
		t.Fatalf("status %d, error %v", out.StatusCode, out.FunctionError)
	}
	if _, second := invoke(t, s, `{}`); first["pid"] != second["pid"] || first["request_id"] == second["request_id"] {
		t.Error("the warm process was not used again, or for the same request")
	}
	if left, _ := first["left_ms"].(float64); left <= 0 || left > 1000 {
		t.Errorf("deadline in %v ms, want within the timeout of one second", left)
	}
	for wish, want := range map[string]string{
		"error": `"errorMessage":"as asked"`, "panic": `"errorMessage":"as asked"`,
		"exit": "Runtime exited with error: exit status 7",
		"hang": "Task timed out after 1.00 seconds",
	} {
		out, _ := invoke(t, s, `{"Do":"`+wish+`"}`)
		if aws.ToString(out.FunctionError) != "Unhandled" || !strings.Contains(string(out.Payload), want) {
			t.Errorf("%s: error %q, answer %s, want %s", wish, aws.ToString(out.FunctionError), out.Payload, want)
		}
	}
	client := lambda.NewFromConfig(s.aws(s.AWSEndpointURL))
	var missing *lambdatypes.ResourceNotFoundException
	_, err := client.Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("nobody")})
	if !errors.As(err, &missing) {
		t.Errorf("an unknown function answers %v", err)
	}
	for kind, want := range map[lambdatypes.InvocationType]int32{
		lambdatypes.InvocationTypeEvent: 202, lambdatypes.InvocationTypeDryRun: 204, "Later": 0,
	} {
		out, err := client.Invoke(t.Context(), &lambda.InvokeInput{
			FunctionName: aws.String(s.Functions["work"]), InvocationType: kind,
		})
		if accepted := err == nil && out.StatusCode == want; accepted != (want != 0) {
			t.Errorf("an invocation by %s answers %v", kind, err)
		}
	}
	_, before := invoke(t, s, `{}`)
	pid, _ := before["pid"].(float64)
	_ = syscall.Kill(int(pid), syscall.SIGKILL)
	eventually(t, "the process is gone", func() bool { return errors.Is(syscall.Kill(int(pid), 0), syscall.ESRCH) })
	out, after := invoke(t, s, `{}`)
	if out.FunctionError != nil {
		t.Errorf("the death of an idle process lost the next invocation: %s", out.Payload)
	}
	if after["pid"] == before["pid"] {
		t.Error("a dead process answered")
	}
}
