package fanout

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// strict wants a number as data.n.
var strict = schemasOf([]catalogue.Type{{Name: "user.banned", Schema: `{"properties":{"n":{"type":"number"}}}`}})

func TestHandler_Process_checksDataAgainstTheSchema(t *testing.T) {
	const mismatch = "/n: must be number (/properties/n/type)"
	fits := events.SQSMessage{MessageId: "1", Body: `{"id":"a","tenant_id":"t","type":"user.banned","data":{"n":1}}`}
	not := events.SQSMessage{MessageId: "2", Body: `{"id":"b","tenant_id":"t","type":"user.banned","data":{"n":"s3cret"}}`}
	rejected := []queue.Outgoing{kept(not, "b", "invalid event: data: "+mismatch)}
	for check, want := range map[SchemaCheck]struct {
		delivered int
		rejected  []queue.Outgoing
		line      string
		counted   string
	}{
		"":          {delivered: 2},
		checkOff:    {delivered: 2},
		checkWarn:   {delivered: 2, line: `reason="data: ` + mismatch + `"`, counted: `"SchemaMismatches":[1]`},
		checkReject: {1, rejected, `reason="invalid event: data: ` + mismatch + `"`, `"EventsRejected":[1]`},
	} {
		t.Run(string(check), func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
			r.SchemaCheck, r.schemas = check, strict
			r.delivers(t, want.delivered, fits, not)
			if diff := cmp.Diff(want.rejected, r.rejected.sent, sqsValues); diff != "" {
				t.Errorf("rejected (-want +got):\n%s", diff)
			}
			if n := strings.Count(r.lines.String(), "level=WARN"); n != min(1, len(want.line)) {
				t.Errorf("%d warnings:\n%s", n, r.lines)
			}
			if !strings.Contains(r.lines.String(), want.line) || strings.Contains(r.lines.String(), "s3cret") {
				t.Errorf("want %s and no data in\n%s", want.line, r.lines)
			}
			if !strings.Contains(r.metrics.String(), want.counted) {
				t.Errorf("want %s in\n%s", want.counted, r.metrics)
			}
		})
	}
}

// One line names everything that is odd about an event. An event that is received again after a failure is counted
// once, when it is delivered.
func TestHandler_Process_reportsAMismatchBesideAReusedIdOnce(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
	r.SchemaCheck, r.schemas = checkWarn, strict
	odd := []events.SQSMessage{
		{MessageId: "2", Body: `{"id":"a","tenant_id":"t","type":"user.banned","data":{"n":"one"}}`},
	}
	r.Process(t.Context(), []events.SQSMessage{
		{MessageId: "1", Body: `{"id":"a","tenant_id":"t","type":"user.banned","data":{"n":1}}`},
	})
	r.refuses("t")
	r.Process(t.Context(), odd)
	r.aws.Mend()
	r.Process(t.Context(), odd)
	if !strings.Contains(r.lines.String(), `reason="event_id_reused; data: /n: must be number (/properties/n/type)`) {
		t.Errorf("not both reasons in\n%s", r.lines)
	}
	if n := strings.Count(r.metrics.String(), `"SchemaMismatches":[1]`); n != 1 {
		t.Errorf("counted %d times in\n%s", n, r.metrics)
	}
}

func TestHandler_Process_returnsAnEventWhoseSchemaIsBroken(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
	r.SchemaCheck, r.schemas = checkReject, schemasOf([]catalogue.Type{{Name: "user.banned", Schema: "{"}})
	failed := r.Process(t.Context(), []events.SQSMessage{
		{MessageId: "1", Body: `{"tenant_id":"t","type":"user.banned","data":{}}`},
	})
	if len(r.deliveries.sent) != 0 || !slices.Equal(failed, []string{"1"}) {
		t.Errorf("%d deliveries, failed %v", len(r.deliveries.sent), failed)
	}
}
