package webhooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// A change that may have been stored has left an audit line.
func TestHandler_Serve_answers503AndStoresNothingWhenAWSFails(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	before := maps.Clone(w.aws.Endpoints)
	w.audited.Reset()
	for name, test := range map[string]struct {
		down   *bool
		method string
		target string
		body   string
	}{
		"keys cannot be read":      {&w.keysDown, "GET", path, ""},
		"endpoint cannot be read":  {&w.readDown, "GET", path, ""},
		"list cannot be read":      {&w.readDown, "GET", "/v1/webhooks", ""},
		"create cannot write":      {&w.writeDown, "POST", "/v1/webhooks", w.fresh()},
		"create cannot seal":       {&w.sealDown, "POST", "/v1/webhooks", valid},
		"change cannot write":      {&w.writeDown, "PATCH", path, `{"description":"x"}`},
		"change cannot seal":       {&w.sealDown, "PATCH", path, `{"headers":{"X":"y"}}`},
		"delete cannot write":      {&w.writeDown, "DELETE", path, ""},
		"rotate cannot write":      {&w.writeDown, "POST", path + "/rotate-secret", ""},
		"rotate cannot seal":       {&w.sealDown, "POST", path + "/rotate-secret", ""},
		"create cannot be audited": {&w.auditDown, "POST", "/v1/webhooks", w.fresh()},
		"change cannot be audited": {&w.auditDown, "PATCH", path, `{"description":"x"}`},
		"delete cannot be audited": {&w.auditDown, "DELETE", path, ""},
		"rotate cannot be audited": {&w.auditDown, "POST", path + "/rotate-secret", ""},
		"unknown path, no keys":    {&w.keysDown, "GET", "/x", ""},
		"rotate cannot read first": {&w.readDown, "POST", path + "/rotate-secret", ""},
	} {
		*test.down = true
		a := w.do(key, test.method, test.target, test.body)
		*test.down = false
		if w.expect(name, "503 unavailable", a); a.header.Get("Retry-After") != "5" {
			t.Errorf("%s: %v", name, a.header)
		}
		for _, internal := range []string{"dynamo", "kms", "Throttling", "Herald", "herald-"} {
			if strings.Contains(string(a.body), internal) {
				t.Errorf("%s: the answer tells of %s: %s", name, internal, a.body)
			}
		}
		if diff := cmp.Diff(before, w.aws.Endpoints); diff != "" {
			t.Errorf("%s: something was stored (-before +after):\n%s", name, diff)
		}
	}
	if n := strings.Count(w.audited.String(), "\n"); n != 4 {
		t.Errorf("%d audit lines of 4 changes that may have been stored", n)
	}
	if !strings.Contains(w.log.String(), "ThrottlingException") {
		t.Error("the log does not say why")
	}
}

// API Gateway waits for 29 s, a caller perhaps for ten.
func TestHandler_Serve_answers503InTimeWhenAWSHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRig(t)
		key := w.issue("acme", apikey.Read)
		w.hangs = true
		began := time.Now()
		w.expect("while AWS hangs", "503 unavailable", w.do(key, "GET", "/v1/webhooks", ""))
		if took := time.Since(began); took > 9*time.Second {
			t.Errorf("answered after %s", took)
		}
	})
}

func TestHandler_Serve_answersABugWith500AndLogsIt(t *testing.T) {
	w := newRig(t)
	key := w.issue("acme", apikey.Read)
	w.panics = true
	a := w.do(key, "GET", "/v1/webhooks/webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA", "")
	if w.expect("a bug", "500 internal", a); strings.Contains(string(a.body), "bug") {
		t.Errorf("%s", a.body)
	}
	if !strings.Contains(w.log.String(), "a bug") {
		t.Error("the log does not say why")
	}
}

func TestHandler_Serve_answersAnInternalFaultWith500(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	at := dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID}
	stored := w.aws.Endpoints[at.EndpointID]
	stored.Description = "\xff" // no text of JSON
	w.aws.Endpoints[at.EndpointID] = stored
	w.expect("an answer that is no JSON", "500 internal", w.do(key, "GET", "/v1/webhooks/"+e.ID, ""))
}

func TestProblemOf(t *testing.T) {
	known := &problem.Error{Code: problem.CodeInvalidQuery, Detail: "known"}
	conflict, limit := fmt.Errorf("storing: %w", dynamo.ErrConflict), fmt.Errorf("storing: %w", dynamo.ErrLimit)
	panicked, other := fmt.Errorf("storing: %w", &parallel.Panic{Value: "a bug"}), errors.New("throttled")
	for err, want := range map[error]problem.Error{
		known:                            *known,
		fmt.Errorf("storing: %w", known): *known,
		conflict:                         {Code: problem.CodeConflict, Cause: conflict},
		limit:                            {Code: problem.CodeEndpointLimit, Cause: limit},
		panicked:                         {Code: problem.CodeInternal, Cause: panicked},
		other:                            {Code: problem.CodeUnavailable, Cause: other},
	} {
		if diff := cmp.Diff(want, *problemOf(err), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if p := problemOf(nil); p != nil {
		t.Errorf("nil is the problem %v", p)
	}
}

func TestHandler_replace_losesNoneOfTwoChangesSilently(t *testing.T) {
	w, key := newTenant(t)
	for name, test := range map[string]struct {
		method, suffix, body, want string
	}{
		"a change and a change":   {"PATCH", "", `{"description":"mine"}`, "409 conflict"},
		"a rotation and a change": {"POST", "/rotate-secret", "", "409 conflict"},
		"a deletion and a change": {"DELETE", "", "", "204"},
	} {
		path := "/v1/webhooks/" + w.create(key).ID
		w.raced = func() {
			w.expect(name+": the first", "200", w.do(key, "PATCH", path, `{"events":["user.deleted"]}`))
		}
		w.expect(name, test.want, w.do(key, test.method, path+test.suffix, test.body))
		var after management.Endpoint
		w.do(key, "GET", path, "").decode(t, &after)
		if !slices.Equal(after.Events, []string{"user.deleted"}) {
			t.Errorf("%s: the first change is lost: %+v", name, after)
		}
	}
}
