package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Each attempt has another parent. Herald adds no header if the parameter is off, if the event has no trace, or if the
// endpoint's owner has set the header. It never adds tracestate or baggage.
func TestSender_Attempt_sendsTheTraceWhereItIsForwarded(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	published := trace.ParseTraceparent("00-" + id + "-00f067aa0ba902b7-01")
	unsampled := published
	unsampled.Sampled = false
	of := func(flags string) []string {
		return []string{"00-" + id + "-0000000000000001-" + flags, "00-" + id + "-0000000000000002-" + flags}
	}
	for name, row := range map[string]struct {
		forwards bool
		trace    trace.Context
		own      []Field
		want     []string // of two attempts
	}{
		"it is off":             {false, published, nil, nil},
		"without a trace":       {true, trace.Context{}, nil, nil},
		"sampled":               {true, published, nil, of("01")},
		"not sampled":           {true, unsampled, nil, of("00")},
		"the owner's":           {true, published, []Field{{"traceparent", "own"}}, []string{"own", "own"}},
		"the owner's, spelt":    {true, published, []Field{{"TraceParent", "own"}}, []string{"own", "own"}},
		"the owner's, off":      {false, published, []Field{{"TRACEPARENT", "own"}}, []string{"own", "own"}},
		"another owner's":       {true, published, []Field{{"Trace-Parent", "x"}}, of("01")},
		"the owner's, untraced": {true, trace.Context{}, []Field{{"Traceparent", "own"}}, []string{"own", "own"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, to := &scripted{response: Response{Status: 503}}, target
			to.Headers = row.own
			s := sender(client)
			spans := byte(0)
			if row.forwards {
				s.NewSpan = func() trace.SpanID {
					spans++
					return trace.SpanID{7: spans}
				}
			}
			m := Message{Ref: Ref{DeliveryID: "msg_1", TenantID: "tenant_1"}, Body: []byte(body), Trace: row.trace}
			var got []string
			for range 2 {
				out := s.Attempt(t.Context(), m, to)
				if sent := out.Parent != (trace.SpanID{}); sent != (spans > 0) {
					t.Errorf("the outcome has the parent %s", out.Parent)
				}
			}
			plain := m
			plain.Trace = trace.Context{}
			sender(client).Attempt(t.Context(), plain, target)
			for n, p := range client.posts[:2] {
				var others []Field
				for _, h := range p.Header {
					switch name := strings.ToLower(h.Name); {
					case name == "traceparent":
						got = append(got, h.Value)
					case name != "trace-parent":
						others = append(others, h)
					}
				}
				if diff := cmp.Diff(client.posts[2].Header, others); diff != "" {
					t.Errorf("the other headers of attempt %d (-want +got)\n%s", n, diff)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(fmt.Sprint("traceparent (-want +got)\n", diff))
			}
		})
	}
}
