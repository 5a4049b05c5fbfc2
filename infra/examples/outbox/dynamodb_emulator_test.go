//go:build emulator

package outbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// streamed is a table of events and the function behind its stream.
type streamed struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	in     io.Writer
	out    *bufio.Reader
}

// put puts an event as a service does.
func (s *streamed) put(id, tenant, body string) {
	s.t.Helper()
	s.item(id, map[string]types.AttributeValue{"tenant_id": text(tenant), "body": text(body)})
}

// item puts an item with any attributes.
func (s *streamed) item(id string, item map[string]types.AttributeValue) {
	s.t.Helper()
	item["event_id"], item["expires_at"] = text(id), &types.AttributeValueMemberN{Value: "1900000000"}
	if _, err := s.client.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: item}); err != nil {
		s.t.Fatal(err)
	}
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// answer is what the function answered, by event ids, or its error.
type answer struct {
	Failures []string
	Error    string
}

// play hands the records from a number on to the function. It returns the number that Lambda would begin with next.
func (s *streamed) play(from string) (a answer, next string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, from); err != nil {
		s.t.Fatal(err)
	}
	var got struct {
		BatchItemFailures []struct{ ItemIdentifier string }
		Error             string
		Keys              map[string]string
	}
	for got.Keys == nil { // lines with metrics come first
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		if err := json.Unmarshal(line, &got); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
	}
	a.Error = got.Error
	for _, one := range got.BatchItemFailures {
		a.Failures = append(a.Failures, got.Keys[one.ItemIdentifier])
		if next == "" {
			next = one.ItemIdentifier
		}
	}
	return a, next
}

// refused are the reasons of what was set aside.
func (s *streamed) refused() map[string]string {
	s.t.Helper()
	found, err := s.client.Scan(s.t.Context(), &dynamodb.ScanInput{TableName: &s.table})
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for _, item := range found.Items {
		reason, there := item["refused"].(*types.AttributeValueMemberS)
		if !there {
			continue
		}
		if _, ends := item["expires_at"]; ends {
			s.t.Error("what was set aside would expire")
		}
		all[item["event_id"].(*types.AttributeValueMemberS).Value] = reason.Value
	}
	return all
}

func streamOf(t *testing.T, q *queue) *streamed {
	t.Helper()
	cfg := testkit.Moto(t)
	s := &streamed{t: t, client: dynamodb.NewFromConfig(cfg), table: "events"}
	if _, err := s.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &s.table,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("event_id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("event_id"), KeyType: "HASH"}},
		BillingMode:          types.BillingModePayPerRequest,
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(root)
	if err != nil {
		t.Fatal(err)
	}
	server := q.serve(t, func(string) bool { return true })
	cmd := exec.Command(python, "-B", "dynamodb/main.py")
	cmd.Env = append(os.Environ(), "TABLE="+s.table, "EVENTS_QUEUE_URL="+server.URL+"/000000000000/events",
		"AWS_ENDPOINT_URL="+*cfg.BaseEndpoint, "AWS_ENDPOINT_URL_SQS="+server.URL, "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "PYTHONPATH=../publisher/python")
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil || errIn != nil || errOut != nil {
		t.Fatal(err, errIn, errOut)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	s.in, s.out = in, bufio.NewReader(out)
	return s
}

// Items that SQS does not take now come again, and those that it never takes are set aside, mended, and sent.
func TestStream_sendsEachItemUnderOneID(t *testing.T) {
	t.Parallel()
	q := newQueue()
	failing := `"evt_3"`
	q.fails = func(e entry) string {
		if failing != "" && strings.Contains(e.MessageBody, failing) {
			return "InternalError"
		}
		return ""
	}
	q.refuses = func(entries []entry) string {
		if slices.ContainsFunc(entries, func(e entry) bool { return strings.Contains(e.MessageBody, `"evt_6"`) }) {
			return "Unforeseen"
		}
		return ""
	}
	s := streamOf(t, q)
	body := func(id, rest string) string {
		return `{"id":"` + id + `","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"` + rest + `}}`
	}
	var good []string
	for _, id := range []string{"evt_1", "evt_2", "evt_3", "evt_4", "evt_5"} {
		good = append(good, id)
		s.put(id, "acme", body(id, ""))
	}
	s.put("evt_6", "acme", body("evt_6", ""))
	s.put("large", "acme", body("large", `,"x":"`+strings.Repeat("x", 300_000)+`"`))
	s.put("cut", "acme", body("cut", "")[:40])
	s.put("nameless", "acme", strings.Replace(body("x", ""), `"id":"x",`, "", 1))
	s.put("spaced", "a tenant", body("spaced", ""))
	s.item("nobody's", map[string]types.AttributeValue{"body": text(body("nobody's", ""))})
	s.item("a map", map[string]types.AttributeValue{
		"tenant_id": text("acme"), "body": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
	})

	first, next := s.play("0")
	if diff := cmp.Diff(answer{Failures: []string{"evt_3"}}, first); diff != "" {
		t.Errorf("first answer (-want +got):\n%s", diff)
	}
	failing = ""
	if second, _ := s.play(next); !cmp.Equal(answer{}, second) {
		t.Errorf("second answer: %v", second)
	}
	want := map[string]string{"evt_6": "RequestFailed", "large": "MessageTooLong", "cut": "InvalidMessageContents",
		"nameless": "MissingId", "spaced": "InvalidParameterValue", "nobody's": "InvalidParameterValue",
		"a map": "InvalidMessageContents"}
	if diff := cmp.Diff(want, s.refused()); diff != "" {
		t.Errorf("set aside (-want +got):\n%s", diff)
	}
	if _, err := s.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: map[string]types.AttributeValue{"event_id": text("spaced")},
		UpdateExpression:          aws.String("SET tenant_id = :t REMOVE refused"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":t": text("acme")},
	}); err != nil {
		t.Fatal(err)
	}
	s.play(next)
	good = append(good, "spaced")
	sent := map[string]int{}
	for id, ids := range q.taken {
		sent[id] = len(slices.Compact(ids))
	}
	wantSent := map[string]int{}
	for _, id := range good {
		wantSent[id] = 1
	}
	if diff := cmp.Diff(wantSent, sent); diff != "" {
		t.Errorf("wh-ids by event (-want +got):\n%s", diff)
	}
	s.outlasts(q, want)
	q.refuses = func([]entry) string { return "AccessDenied" }
	if outage, _ := s.play("0"); !strings.Contains(outage.Error, "AccessDenied") {
		t.Errorf("an outage is answered by %v, as if something had been sent", outage)
	}
}

// outlasts has an outage end, or begin, while each message is sent alone. No message is to blame.
func (s *streamed) outlasts(q *queue, aside map[string]string) {
	s.t.Helper()
	for n := range 6 {
		ends := n%2 == 0
		q.requests = 0
		q.refuses = func(entries []entry) string {
			if len(entries) > 1 || (q.requests <= n+1) == ends {
				return "AccessDenied"
			}
			return ""
		}
		a, _ := s.play("0")
		if diff := cmp.Diff(aside, s.refused()); diff != "" || a.Error != "" || (len(a.Failures) == 0) != ends {
			s.t.Errorf("an outage that ends (%t) at request %d: %v; set aside (-want +got):\n%s", ends, n+1, a, diff)
		}
	}
}
