package delivery

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatusReason(t *testing.T) {
	for status, want := range map[int]Reason{
		1: ReasonHTTP5xx, 99: ReasonHTTP5xx, 100: ReasonHTTP1xx, 199: ReasonHTTP1xx,
		200: "", 204: "", 299: "",
		300: ReasonHTTP3xx, 304: ReasonHTTP3xx, 399: ReasonHTTP3xx,
		400: ReasonHTTP4xx, 410: ReasonHTTP4xx, 428: ReasonHTTP4xx, 430: ReasonHTTP4xx, 499: ReasonHTTP4xx,
		429: ReasonHTTP429,
		500: ReasonHTTP5xx, 503: ReasonHTTP5xx, 599: ReasonHTTP5xx, 999: ReasonHTTP5xx,
	} {
		if got := StatusReason(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

func TestReason_Ours_blamesNoReceiver(t *testing.T) {
	for _, r := range []Reason{
		ReasonInternal, ReasonOutOfTime, ReasonCrashed, ReasonUnreadable, ReasonUnopenable, ReasonReplayFault,
	} {
		if !r.Ours() {
			t.Errorf("%s is an internal fault", r)
		}
	}
	for _, r := range []Reason{
		"", ReasonTimeout, ReasonConnect, ReasonDNS, ReasonTLS, ReasonTLSHandshake, ReasonProtocol,
		ReasonHTTP1xx, ReasonHTTP3xx, ReasonHTTP4xx,
		ReasonHTTP429, ReasonHTTP5xx, ReasonBlockedAddress, ReasonBlockedPort, ReasonBlockedURL, ReasonHeaderTooLarge,
		ReasonEndpointDisabled, ReasonEndpointDeleted, ReasonEndpointHanging, ReasonEndpointPaused, ReasonCircuitOpen,
		ReasonDiscarded, ReasonUnsubscribed, ReasonReplayed, ReasonTenantSlow,
	} {
		if r.Ours() {
			t.Errorf("%s is not an internal fault", r)
		}
	}
}

// A reason that is not among them could not be selected by operators.
func TestReasons_areAllConstants(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Reason
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Reason" {
			t.Errorf("%s is no Reason", spec.Names[0])
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, Reason(value))
		return true
	})
	if diff := cmp.Diff(declared, Reasons()); diff != "" || len(declared) < 27 {
		t.Errorf("(-declared +listed):\n%s", diff)
	}
}
