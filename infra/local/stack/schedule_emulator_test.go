//go:build emulator

package stack

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/go-cmp/cmp"
)

func TestStack_firesSchedulesAndRetriesTheirEvents(t *testing.T) {
	o := options(t)
	o.Parameters = map[string]string{"TickState": "ENABLED", "Tries": "1"}
	s := start(t, o)
	want := []string{
		"TickFunction is invoked by rate(1 minute), here every 5s",
		"TickFunction is invoked by rate(2 minutes), here every 10s",
	}
	if diff := cmp.Diff(want, s.Schedules()); diff != "" {
		t.Errorf("schedules (-want +got):\n%s", diff)
	}
	invokeAsEvent(t, s, `{"ID":"by-hand","Source":"aws.events"}`)
	// The function takes seven seconds: a tick after five seconds finds the one before under way.
	eventually(t, "a tick fires while the one before is under way", func() bool {
		lines := logLines(s, "tick.log")
		second := slices.Index(lines[min(1, len(lines)):], "begin tick")
		end := slices.Index(lines, "end tick")
		return second >= 0 && end > second+1
	})
	eventually(t, "three events of the rule failed, the first of them twice", func() bool {
		failures := failuresByEvent(s)
		return len(failures) >= 3 && slices.Contains(failures, 2)
	})
	eventually(t, "what the Invoke API took as an event was tried again", func() bool {
		return strings.Count(strings.Join(logLines(s, "tick.log"), "\n"), "failing by-hand") == 2
	})
	if failures := failuresByEvent(s); slices.Max(failures) > 2 {
		t.Errorf("events were tried %v times, want one retry at most", failures)
	}
	eventually(t, "the host tells of a discarded event", func() bool {
		return slices.ContainsFunc(logLines(s, "host.log"), func(line string) bool {
			return strings.Contains(line, "asynchronous event discarded")
		})
	})
}

// invokeAsEvent invokes the function tick asynchronously.
func invokeAsEvent(t *testing.T, s *Stack, payload string) {
	t.Helper()
	out, err := lambda.NewFromConfig(s.aws(s.LambdaEndpointURL)).Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String(s.Functions["tick"]), Payload: []byte(payload),
		InvocationType: lambdatypes.InvocationTypeEvent,
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.StatusCode != http.StatusAccepted {
		t.Errorf("an event is answered %d", out.StatusCode)
	}
}

// failuresByEvent returns how often each event of the rule was tried.
func failuresByEvent(s *Stack) []int {
	times := map[string]int{}
	for _, line := range logLines(s, "tick.log") {
		if id, ok := strings.CutPrefix(line, "failing "); ok {
			times[id]++
		}
	}
	var counts []int
	for _, n := range times {
		counts = append(counts, n)
	}
	return counts
}

func logLines(s *Stack, name string) []string {
	text, _ := os.ReadFile(filepath.Join(s.options.logs(), name)) // empty until something is logged
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestStart_refusesParametersThatTheTemplateDoesNotAllow(t *testing.T) {
	o := options(t)
	o.Parameters = map[string]string{"BatchSize": "0", "TickState": "ON", "BatchSizes": "10"}
	_, err := Start(t.Context(), o)
	const want = `parameter BatchSize: "0" is out of bounds: at least 1 (MinValue)
parameter BatchSizes: the template declares no such parameter
parameter TickState: "ON" is not one of ENABLED DISABLED`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
