//go:build emulator

package stack

import (
	"errors"
	"fmt"
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

	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

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
	for _, name := range []string{"work", "tick"} {
		build := exec.Command("go", "build", "-o", filepath.Join(built, name, "bootstrap"), "./testdata/functions/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return m.Run(), nil
}

// checkout is like this one after make native, with testdata/app in place of Herald.
func checkout(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".local"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"template.yaml": "testdata/app/template.yaml", "samconfig.toml": "testdata/app/samconfig.toml",
		"infra": "../..", ".venv": "../../../.venv", ".local/functions": built,
	} {
		target, err := filepath.Abs(target)
		if err == nil {
			err = os.Symlink(target, filepath.Join(root, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func start(t *testing.T, root string) *Stack {
	t.Helper()
	s, err := Start(t.Context(), Options{Root: root})
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
	for end := time.Now().Add(patience.Limit()); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestStack uses one stack for all subtests that can share one.
func TestStack(t *testing.T) {
	s := start(t, checkout(t))
	for name, test := range map[string]func(*testing.T, *Stack){
		"returns and deletes messages as AWS does": returnsAndDeletesMessages,
		"gathers a batch over its window":          gathersABatch,
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
	send(t, s, "WorkQueue", "good 1", "fail 1", "once 1")
	// good, once and kill are deleted in the end; fail is dead after three receives.
	eventually(t, "the work queue drains", func() bool {
		visible, hidden := count(t, s, "WorkQueue")
		return visible == "0" && hidden == "0"
	})
	if visible, _ := count(t, s, "DeadQueue"); visible != "1" {
		t.Errorf("%s messages are dead, want 1", visible)
	}
	log := workLog(s)
	for _, line := range []string{"received kill 1 2", "received once 1 2", "received fail 1 3"} {
		if !strings.Contains(log, line) {
			t.Errorf("the function's log lacks %q", line)
		}
	}
	if strings.Contains(log, "received fail 1 4") {
		t.Error("a message was received more often than the queue allows")
	}
}

func gathersABatch(t *testing.T, s *Stack) {
	t.Helper()
	send(t, s, "SlowQueue", "fail a", "fail b", "good c")
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
