package publish_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	publish "github.com/herald-webhooks/herald/infra/examples/publisher/go"
)

// queue answers as SQS does: it refuses a request with a body of "long", fails the entry "odd" for good, and the entry
// "busy" each time.
type queue struct{ requests [][]string }

type entry struct {
	ID   string `json:"Id"`
	Body string `json:"MessageBody"`
}

func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ Entries []entry }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var bodies []string
	out := map[string][]map[string]any{"Successful": {}, "Failed": {}}
	for _, e := range in.Entries {
		bodies = append(bodies, e.Body)
		switch e.Body {
		case "odd", "busy":
			out["Failed"] = append(out["Failed"], map[string]any{
				"Id": e.ID, "SenderFault": e.Body == "odd", "Code": e.Body + "Code",
			})
		default:
			sum := md5.Sum([]byte(e.Body))
			out["Successful"] = append(out["Successful"], map[string]any{
				"Id": e.ID, "MessageId": e.ID, "MD5OfMessageBody": hex.EncodeToString(sum[:]),
			})
		}
	}
	q.requests = append(q.requests, bodies)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	var answer any = out
	if slices.Contains(bodies, "long") || slices.Contains(bodies, "denied") {
		code := map[bool]string{true: "BatchRequestTooLong", false: "AccessDeniedException"}[slices.Contains(bodies, "long")]
		w.Header().Set("X-Amzn-Query-Error", "AWS.SimpleQueueService."+code+";Sender")
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]string{"__type": "com.amazonaws.sqs#" + code, "message": "no"}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// published are bodies that AWS's SDK has sent to such a queue.
func published(ctx context.Context, t *testing.T, bodies ...string) ([]publish.NotSent, [][]string, error) {
	t.Helper()
	q := &queue{}
	server := httptest.NewServer(q)
	defer server.Close()
	client := sqs.New(sqs.Options{
		Region: "eu-west-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
		}),
	})
	var messages []publish.Message
	for _, body := range bodies {
		messages = append(messages, publish.Message{Body: body, TenantID: "t"})
	}
	p := publish.Publisher{Client: client, QueueURL: server.URL + "/queue", FirstWait: time.Millisecond}
	notSent, err := p.Publish(ctx, messages)
	return notSent, q.requests, err
}

func TestPublish_sendsAllButWhatSQSRefuses(t *testing.T) {
	notSent, requests, err := published(t.Context(), t, "a", "odd", "\x00", "long", "busy")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range notSent {
		got = append(got, n.Message.Body+" "+n.Reason)
	}
	want := []string{
		"\x00 InvalidMessageContents", "odd oddCode", "long AWS.SimpleQueueService.BatchRequestTooLong", "busy busyCode",
	}
	if !slices.Equal(got, want) {
		t.Errorf("not sent: %q, want %q", got, want)
	}
	if n := len(requests); n != 1+3+5 { // all; a, odd and long; busy
		t.Errorf("%d requests: %q", n, requests)
	}
}

func TestPublish_failsWithoutAccess(t *testing.T) {
	notSent, requests, err := published(t.Context(), t, "denied", "a")
	if err == nil || notSent != nil || len(requests) != 1 {
		t.Errorf("%v, %v after %d requests", notSent, err, len(requests))
	}
}

func TestPublish_stopsWaitingWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	p := publish.Publisher{Client: busy{}, FirstWait: time.Hour}
	if _, err := p.Publish(ctx, []publish.Message{{Body: "a", TenantID: "t"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// busy takes nothing.
type busy struct{}

func (busy) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	return &sqs.SendMessageBatchOutput{Failed: []types.BatchResultErrorEntry{{Id: in.Entries[0].Id}}}, nil
}
