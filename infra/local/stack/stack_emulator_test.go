//go:build emulator

package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// patience bounds every wait: long enough for a busy machine, and reached only by a failure.
const patience = 90 * time.Second

// built is a folder with the functions of testdata/app, built once for all tests.
var built string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if built, err = os.MkdirTemp("", "herald-stack-test-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built)) }()
	for _, name := range []string{"work", "web", "tick"} {
		build := exec.Command("go", "build", "-o", filepath.Join(built, name, "bootstrap"), "./testdata/functions/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return m.Run(), nil
}

// options of a stack of testdata/app with its functions built.
func options(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(built, filepath.Join(dir, "functions")); err != nil {
		t.Fatal(err)
	}
	return Options{
		Root: "../../..", Dir: dir, Template: "testdata/app/template.yaml", SAMConfig: "testdata/app/samconfig.toml",
	}
}

func start(t *testing.T, o Options) *Stack {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func queues(s *Stack) *sqs.Client { return sqs.NewFromConfig(s.aws(s.AWSEndpointURL)) }

func send(t *testing.T, s *Stack, queue string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		_, err := queues(s).SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(s.Queues[queue]), MessageBody: &body, MessageGroupId: aws.String("group"),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"kind": {DataType: aws.String("String"), StringValue: aws.String("test")},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// count returns how many messages of a queue are visible and in flight.
func count(t *testing.T, s *Stack, queue string) (visible, hidden string) {
	t.Helper()
	out, err := queues(s).GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(s.Queues[queue]), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes["ApproximateNumberOfMessages"], out.Attributes["ApproximateNumberOfMessagesNotVisible"]
}

func workLog(s *Stack) string {
	text, _ := os.ReadFile(filepath.Join(s.options.logs(), "work.log"))
	return string(text)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestStack uses one stack for all that does not need one of its own.
func TestStack(t *testing.T) {
	s := start(t, options(t))
	for name, test := range map[string]func(*testing.T, *Stack){
		"returns and deletes messages as AWS does": returnsAndDeletesMessages,
		"gathers a batch over its window":          gathersABatch,
		"serves the HTTP API":                      servesTheAPI,
		"invokes as Lambda does":                   invokesAsLambdaDoes,
		"fires schedules":                          firesSchedules,
		"alone polls the queues":                   alonePolls,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func returnsAndDeletesMessages(t *testing.T, s *Stack) {
	t.Helper()
	send(t, s, "WorkQueue", "kill 1")
	eventually(t, "the process is killed", func() bool { return strings.Contains(workLog(s), "received kill 1 1") })
	time.Sleep(time.Second) // of the five that the message stays hidden
	if visible, hidden := count(t, s, "WorkQueue"); visible != "0" || hidden != "1" {
		t.Errorf("after the crash %s messages are visible and %s hidden, want 0 and 1", visible, hidden)
	}
	send(t, s, "WorkQueue", "good 1", "fail 1", "once 1", "show 1", "unknown 1")
	// good, once, kill and show are deleted in the end; fail and unknown are dead after three receives.
	eventually(t, "the work queue drains", func() bool {
		visible, hidden := count(t, s, "WorkQueue")
		return visible == "0" && hidden == "0"
	})
	if visible, _ := count(t, s, "DeadQueue"); visible != "2" {
		t.Errorf("%s messages are dead, want 2", visible)
	}
	log := workLog(s)
	for _, line := range []string{"received kill 1 2", "received once 1 2", "received fail 1 3", "received unknown 1 3"} {
		if !strings.Contains(log, line) {
			t.Errorf("the function's log lacks %q", line)
		}
	}
	if strings.Contains(log, "received fail 1 4") {
		t.Error("a message was received more often than the queue allows")
	}
	_, text, _ := strings.Cut(log, "\nevent ")
	text, _, _ = strings.Cut(text, "\n")
	var event struct{ Records []map[string]any }
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		t.Fatalf("reading the event %q: %v", text, err)
	}
	checkRecord(t, event.Records[0])
}

// checkRecord compares a record with the shape that Lambda documents.
func checkRecord(t *testing.T, record map[string]any) {
	t.Helper()
	attributes, _ := record["attributes"].(map[string]any)
	for _, name := range []string{"ApproximateReceiveCount", "SentTimestamp", "SenderId",
		"ApproximateFirstReceiveTimestamp", "MessageGroupId"} {
		if _, ok := attributes[name].(string); !ok {
			t.Errorf("the record lacks attribute %s", name)
		}
	}
	kind, _ := json.Marshal(record["messageAttributes"])
	const want = `{"kind":{"binaryListValues":[],"dataType":"String","stringListValues":[],"stringValue":"test"}}`
	if string(kind) != want {
		t.Errorf("message attributes %s, want %s", kind, want)
	}
	for name, want := range map[string]string{
		"eventSource": "aws:sqs", "awsRegion": "local", "messageId": "", "receiptHandle": "", "md5OfBody": "", "body": "",
	} {
		if got, _ := record[name].(string); got == "" || want != "" && got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if arn, _ := record["eventSourceARN"].(string); !strings.HasPrefix(arn, "arn:aws:sqs:local:123456789012:") {
		t.Errorf("eventSourceARN is %q", arn)
	}
}

func gathersABatch(t *testing.T, s *Stack) {
	t.Helper()
	send(t, s, "SlowQueue", "fail a", "fail b", "show c")
	eventually(t, "the slow queue drains", func() bool {
		visible, hidden := count(t, s, "SlowQueue")
		return visible == "0" && hidden == "0"
	})
	log := workLog(s)
	if n := strings.Count(log, "received fail a") + strings.Count(log, "received fail b"); n != 2 {
		t.Errorf("%d receives, want 2: without ReportBatchItemFailures every answer means success", n)
	}
}

// alonePolls looks at the emulator's own mappings, which would receive messages, too.
func alonePolls(t *testing.T, s *Stack) {
	t.Helper()
	out, err := lambda.NewFromConfig(s.aws(s.AWSEndpointURL)).ListEventSourceMappings(t.Context(),
		&lambda.ListEventSourceMappingsInput{})
	if err != nil || len(out.EventSourceMappings) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, m := range out.EventSourceMappings {
		if state := aws.ToString(m.State); state != "Disabled" {
			t.Errorf("the mapping of %s is %s", aws.ToString(m.EventSourceArn), state)
		}
	}
}

func servesTheAPI(t *testing.T, s *Stack) {
	t.Helper()
	for _, row := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/things/a%20b?x=1&x=2", "", 201, `"rawPath":"/things/a b","rawQueryString":"x=1`},
		{"DELETE", "/elsewhere", "", 201, `"method":"DELETE","path":"/elsewhere"`},
		{"POST", "/things", "\xff\x00", 201, `"body":"/wA=","isBase64Encoded":true`},
		{"GET", "/things/broken", "", 500, `{"message":"Internal Server Error"}`},
		{"POST", "/things", strings.Repeat("x", 10_000_001), 413, `{"message":"Request Entity Too Large"}`},
	} {
		body := strings.NewReader(row.body)
		req, err := http.NewRequestWithContext(t.Context(), row.method, s.APIURL+row.path, body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != row.status || !strings.Contains(string(answer), row.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", row.method, row.path, res.StatusCode, answer, row.status, row.want)
		}
		if row.status != 201 {
			continue
		}
		if res.Header.Get("X-Answer") != "yes" || res.Header.Get("Set-Cookie") != "a=1" {
			t.Errorf("%s %s: headers %v", row.method, row.path, res.Header)
		}
	}
}
