package queue

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const (
	traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	xray        = "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=00f067aa0ba902b7;Sampled=1"
	lambdas     = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a87bd80c:0"
)

// onTheWire holds the traces that SQS gets in a call: the call's, and those of its messages by their bodies.
type onTheWire struct {
	Call     string
	Messages map[string]string
}

// overTheWire sends messages to a server in place of SQS, as a function does, and returns the traces that arrive.
func overTheWire(t *testing.T, events bool, messages ...Outgoing) (got onTheWire) {
	t.Helper()
	// As Lambda and aws-lambda-go set them for an invocation.
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "fanout")
	t.Setenv("_X_AMZN_TRACE_ID", lambdas)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = onTheWire{r.Header.Get("X-Amzn-Trace-Id"), map[string]string{}}
		var call struct {
			Entries []struct {
				MessageBody             string
				MessageSystemAttributes map[string]struct{ DataType, StringValue string }
			}
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &call)
		}
		if err != nil {
			t.Error(err)
		}
		for _, e := range call.Entries {
			header := e.MessageSystemAttributes["AWSTraceHeader"]
			if header.StringValue != "" && header.DataType != "String" {
				t.Errorf("the type is %q", header.DataType)
			}
			got.Messages[e.MessageBody] = header.StringValue
		}
		_, _ = io.WriteString(w, `{"Successful":[],"Failed":[]}`)
	}))
	defer server.Close()
	client := sqs.New(sqs.Options{
		BaseEndpoint: aws.String(server.URL), Region: "local",
		Credentials: credentials.NewStaticCredentialsProvider("none", "none", ""),
	})
	Sender{Client: client, URL: server.URL, Events: events}.Send(t.Context(), messages)
	return got
}

// SQS gives the trace of the call to the messages that have none. Deliveries need it for Lambda's recursion detection.
//
// Threat of a publisher: shows a tenant another's trace. Held by: each message has its own, marked as its publisher's.
func TestSender_Send_givesEachMessageItsOwnTrace(t *testing.T) {
	messages := []Outgoing{
		{Body: "a", Group: "acme", Trace: trace.ParseTraceparent(traceparent)},
		{Body: "b", Group: "globex", Trace: trace.ParseXRay(strings.Replace(lambdas, "Sampled=1", "Sampled=0", 1))},
		{Body: "c", Group: "initech"},
	}
	for events, call := range map[bool]string{true: "", false: lambdas} {
		want := onTheWire{call, map[string]string{
			"a": xray, "b": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0", "c": "",
		}}
		if diff := cmp.Diff(want, overTheWire(t, events, messages...)); diff != "" {
			t.Errorf("events: %v (-want +got)\n%s", events, diff)
		}
	}
}

func TestDecode_readsTheTraceThatASenderKeeps(t *testing.T) {
	first, later := full(), full()
	first.Life = delivery.Life{}
	first.Trace, later.Trace = trace.ParseTraceparent(traceparent), trace.ParseXRay("Sampled=0;"+xray[:35+5])
	for _, want := range []delivery.Message{first, later} {
		for name, sent := range map[string]Outgoing{"Of": Of(want, 0), "ToRetry": ToRetry(want, 0)} {
			r := received(want)
			r.Attributes, r.MessageAttributes = sqsevent.Traced(sent.Trace), sqsevent.Attributes(sent.Attributes)
			if got, err := Decode(r); err != nil || got.Trace != want.Trace || got.Trace.IsZero() {
				t.Errorf("%s: %+v, %v", name, got.Trace, err)
			}
		}
	}
}

// The trace of an invocation has the messages of up to ten tenants.
func TestDecode_takesTheTraceOfAnInvocationForNone(t *testing.T) {
	first := full()
	first.Life = delivery.Life{}
	for _, want := range []delivery.Message{first, full()} {
		r := received(want)
		r.Attributes = map[string]string{"AWSTraceHeader": lambdas}
		got, err := Decode(r)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
}

// No trace makes a message unreadable, however malformed it is.
func TestDecode_readsMessagesWithoutATraceAndWithAMalformedOne(t *testing.T) {
	for name, header := range map[string]string{
		"none": "", "traceparent": traceparent, "no root": "Parent=00f067aa0ba902b7", "a line": "Root=\n", "long": long,
	} {
		r := received(full())
		set(&r, attrLife, full().Life.Encode()+traced)
		r.Attributes = map[string]string{"AWSTraceHeader": header}
		got, err := Decode(r)
		if diff := cmp.Diff(full(), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

var long = strings.Repeat("\xff;", 1<<17)

// The two ways to receive an event read the same trace of it.
func TestTraceOf(t *testing.T) {
	known := trace.ParseTraceparent(traceparent)
	other := trace.ParseXRay(lambdas)
	for name, row := range map[string]struct {
		attribute types.MessageAttributeValue
		header    string
		want      trace.Context
	}{
		"neither":             {types.MessageAttributeValue{}, "", trace.Context{}},
		"traceparent":         {text(traceparent), "", known},
		"both":                {text(traceparent), lambdas, known},
		"X-Ray's":             {types.MessageAttributeValue{}, lambdas, other},
		"a malformed one":     {text(traceparent[1:]), "", trace.Context{}},
		"malformed and X-Ray": {text(traceparent[1:]), lambdas, other},
		"of a type of its own": {types.MessageAttributeValue{
			DataType: aws.String("String.w3c"), StringValue: aws.String(traceparent),
		}, "", known},
		"as bytes": {types.MessageAttributeValue{
			DataType: aws.String("Binary"), BinaryValue: []byte(traceparent),
		}, "", trace.Context{}},
		"256 KiB": {text(long), long, trace.Context{}},
	} {
		attributes := map[string]types.MessageAttributeValue{"traceparent": row.attribute}
		system := map[string]string{"AWSTraceHeader": row.header}
		invoked := TraceOf(events.SQSMessage{Attributes: system, MessageAttributes: sqsevent.Attributes(attributes)})
		polled := TraceIn(types.Message{Attributes: system, MessageAttributes: attributes})
		if invoked != row.want || polled != row.want {
			t.Errorf("%s: %+v and %+v, want %+v", name, invoked, polled, row.want)
		}
	}
	if got := TraceOf(events.SQSMessage{}); got != (trace.Context{}) {
		t.Errorf("without attributes: %+v", got)
	}
	most := full()
	most.Trace = known
	if n := len(Attributes(most)); n > 10 {
		t.Errorf("%d attributes: a trace must be none of the ten", n)
	}
}
