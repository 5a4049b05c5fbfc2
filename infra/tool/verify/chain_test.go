package verify

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// inspecting is a run on a stack with these answers of inspect to requests for a summary and for deliveries.
func inspecting(t *testing.T, summary, deliveries string) *run {
	t.Helper()
	return operating(t, func(request string) string {
		if strings.Contains(request, `"summary"`) {
			return summary
		}
		return deliveries
	})
}

// operating is a run on a stack with these answers of the API and of the functions for operators. "" stands for an
// error.
func operating(t *testing.T, answers func(request string) string) *run {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer := answers(string(request))
		if answer == "" {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	c := &client.Client{
		State: statefile.State{APIURL: server.URL, Functions: map[string]string{
			"inspect": "herald-inspect", "apikeys": "herald-apikeys", "replay": "herald-replay",
		}},
		HTTP: server.Client(),
		Lambda: lambda.New(lambda.Options{
			Region: "local", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		}),
	}
	return &run{Config: Config{Client: c}}
}

// Each row has the answers of inspect while one function does not work.
func TestStuck_namesTheBrokenLink(t *testing.T) {
	const empty, nobody = `{"queues":{}}`, `{"data":[]}`
	for name, row := range map[string]struct{ summary, deliveries, want string }{
		"inspect":    {"", nobody, "inspect does not work"},
		"its tables": {empty, "", "inspect does not find deliveries"},
		"fanout":     {`{"queues":{"EventsQueue":{"in_flight":1}}}`, nobody, "fanout does not get its events off"},
		"deliver":    {`{"queues":{"DeliveryQueue":{"visible":1}}}`, nobody, "deliver does not get its deliveries off"},
		"release":    {empty, `{"data":[{"state":"waiting","reason":"http_5xx"}]}`, "does release run every minute?"},
		"a receiver": {empty, `{"data":[{"state":"retrying","reason":"connect","attempts":2}]}`,
			"deliver does not reach the receiver: connect, status 0 after 2 attempts"},
		"replay":     {empty, `{"data":[{"state":"dead","reason":"http_5xx"}]}`, "look at deadletter and replay"},
		"deadletter": {`{"queues":{"DeadLetterQueue":{"visible":1}}}`, nobody, "deadletter does not get dead deliveries off"},
		"nothing":    {empty, nobody, "no delivery of it is known"},
	} {
		r := inspecting(t, row.summary, row.deliveries)
		if got := r.stuck(context.Background(), examples.Message{ID: "e"}); !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
