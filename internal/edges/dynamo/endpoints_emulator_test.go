//go:build emulator

package dynamo_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var createdAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func newEndpoint(tenant string, at time.Time) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID: endpoint.NewID(at), TenantID: tenant, URL: "https://example.com/hooks", Status: endpoint.Active,
		Events:    []string{"user.*", "organization.created"},
		CreatedAt: at, UpdatedAt: at, SecretVersion: 1, SealedSecret: []byte("sealed"), RateLimit: 10,
		Revision: rand.Text(),
	}
}

func mustCreate(t *testing.T, s *dynamo.Endpoints, tenant string, at time.Time) endpoint.Endpoint {
	t.Helper()
	e := newEndpoint(tenant, at)
	if err := s.Create(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

// gone returns e as it is after deletion at the time.
func gone(e endpoint.Endpoint, at time.Time) endpoint.Endpoint {
	e.Status, e.DeletedAt, e.UpdatedAt, e.Revision = endpoint.Deleted, at, at, rand.Text()
	return e
}

// same returns e as another request stores it without a change.
func same(e endpoint.Endpoint) endpoint.Endpoint {
	e.Revision = rand.Text()
	return e
}

func back(e endpoint.Endpoint) endpoint.Endpoint {
	e.Status, e.DeletedAt, e.Revision = endpoint.Active, time.Time{}, rand.Text()
	return e
}

func rowKey(tenant, key string) item { return keyOf("tenant_id", tenant, "endpoint_id", key) }

func mustReplace(t *testing.T, s *dynamo.Endpoints, was, now endpoint.Endpoint) endpoint.Endpoint {
	t.Helper()
	if err := s.Replace(t.Context(), was, now); err != nil {
		t.Fatal(err)
	}
	return now
}

// A deleted endpoint has another row, where fanout does not read it, until the row expires.
func TestEndpoints_Replace_movesTheRowOfADeletedEndpoint(t *testing.T) {
	r := newRig(t)
	e := mustCreate(t, r.endpoints, "acme", createdAt)
	deleted := gone(e, createdAt.Add(time.Minute))
	rows := func(doing string, live bool) item {
		t.Helper()
		in := r.stored(r.tables.Endpoints, rowKey("acme", e.ID))
		out := r.stored(r.tables.Endpoints, rowKey("acme", "deleted#"+e.ID))
		if (len(in) > 0) != live || (len(out) > 0) == live || in["expires_at"] != nil {
			t.Errorf("%s, it has the rows %v and %v", doing, in, out)
		}
		return out
	}
	rows("made", true)
	mustReplace(t, r.endpoints, e, deleted)
	at, ok := rows("deleted", false)["expires_at"].(*types.AttributeValueMemberN)
	if !ok || at.Value != fmt.Sprint(deleted.DeletedAt.Add(30*24*time.Hour).Unix()) {
		t.Errorf("it expires at %+v", at)
	}
	mustReplace(t, r.endpoints, deleted, back(deleted))
	rows("restored", true)
}

func getEndpoint(t *testing.T, s *dynamo.Endpoints, id string) endpoint.Endpoint {
	t.Helper()
	e, found, err := s.Get(t.Context(), "acme", id)
	if err != nil || !found {
		t.Fatalf("getting %s: found %v, %v", id, found, err)
	}
	return e
}

func TestEndpoints_areBusyWhileAnotherTransactionIsInTheWay(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	e := mustCreate(t, s, "acme", createdAt)
	deleted := gone(e, createdAt)
	moved := e
	moved.Revision = rand.Text()
	r.faults.On("TransactWriteItems", 0, testkit.Conflict())
	for name, err := range map[string]error{
		"create":  s.Create(t.Context(), newEndpoint("acme", createdAt), nil),
		"delete":  s.Replace(t.Context(), e, deleted),
		"restore": s.Replace(t.Context(), deleted, back(deleted)),
		"move":    s.Readdress(t.Context(), e, moved, nil),
	} {
		if !errors.Is(err, dynamo.ErrBusy) {
			t.Errorf("%s: %v, want that it is busy", name, err)
		}
	}
	if diff := cmp.Diff(e, getEndpoint(t, s, e.ID)); diff != "" {
		t.Errorf("something was written (-want +got):\n%s", diff)
	}
}

func TestEndpoints_Replace_tellsThrottlingFromConflictAndLimit(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	e := mustCreate(t, s, "acme", createdAt)
	r.faults.On("", 0, testkit.Throttle())
	for name, err := range map[string]error{
		"create": s.Create(t.Context(), newEndpoint("acme", createdAt), nil),
		"change": s.Replace(t.Context(), e, e),
		"delete": s.Replace(t.Context(), e, gone(e, createdAt)),
	} {
		if err == nil {
			t.Errorf("%s: a throttled call succeeds", name)
		}
		if errors.Is(err, dynamo.ErrConflict) || errors.Is(err, dynamo.ErrLimit) {
			t.Errorf("%s: %v, want neither conflict nor limit", name, err)
		}
	}
}

func TestEndpoints_Only_readsNothingElse(t *testing.T) {
	s := newRig(t).endpoints
	want := mustCreate(t, s, "acme", createdAt)
	want.SealedSecret, want.SecretVersion, want.Revision = nil, 0, ""
	list, err := s.Only(dynamo.Named).List(t.Context(), "acme")
	if diff := cmp.Diff([]endpoint.Endpoint{want}, list); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(want, getEndpoint(t, s.Only(dynamo.Named), want.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.URL, want.Description = "", ""
	if diff := cmp.Diff(want, getEndpoint(t, s.Only(dynamo.Deciding), want.ID)); diff != "" {
		t.Errorf("what decides only (-want +got):\n%s", diff)
	}
}

func TestEndpoints_readStronglyConsistent(t *testing.T) {
	r := newRig(t)
	e := mustCreate(t, r.endpoints, "acme", createdAt)
	if _, err := r.endpoints.Subscriptions(t.Context(), "acme"); err != nil {
		t.Error(err)
	}
	mark(t, r.endpoints, dynamo.EndpointKey{TenantID: "acme", EndpointID: e.ID})
	marksOf(t, r.endpoints)
	about(t, r.endpoints, e)
	about(t, r.endpoints, e, mustCreate(t, r.endpoints, "acme", createdAt))
	r.wantConsistentReads()
}

func about(t *testing.T, s *dynamo.Endpoints, all ...endpoint.Endpoint) []endpoint.Endpoint {
	t.Helper()
	told, err := s.About(t.Context(), all...)
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// What an owner says costs a request where it is asked for, and none where an endpoint is known to have nothing. Lists
// of endpoints do not read it.
func TestEndpoints_About_isReadByWhoAsksAlone(t *testing.T) {
	r := newRig(t)
	told, silent := tell(t, r.endpoints, mustCreate(t, r.endpoints, "acme", createdAt)), newEndpoint("acme", createdAt)
	silent.AboutRow = endpoint.AboutNone
	requests := func(do func()) int {
		before := len(r.faults.Calls(""))
		do()
		return len(r.faults.Calls("")) - before
	}
	for name, test := range map[string]struct {
		asked []endpoint.Endpoint
		want  int
	}{"nothing": {[]endpoint.Endpoint{silent, silent}, 0}, "one": {[]endpoint.Endpoint{silent, told}, 1}} {
		if got := requests(func() { about(t, r.endpoints, test.asked...) }); got != test.want {
			t.Errorf("%s: %d requests, want %d", name, got, test.want)
		}
	}
	for name, read := range map[string]func() ([]endpoint.Endpoint, error){
		"subscriptions": func() ([]endpoint.Endpoint, error) { return r.endpoints.Subscriptions(t.Context(), "acme") },
		"live":          func() ([]endpoint.Endpoint, error) { return r.endpoints.Live(t.Context(), "acme") },
		"all":           func() ([]endpoint.Endpoint, error) { return r.endpoints.List(t.Context(), "acme") },
	} {
		if all, err := read(); err != nil || len(all) != 1 || !all[0].About.Empty() {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	r.breaks(r.tables.Endpoints, "metadata", keyOf("tenant_id", "acme", "endpoint_id", "#about#"+told.ID))
	if all, err := r.endpoints.About(t.Context(), told); !errors.Is(err, endpoint.ErrUnreadable) {
		t.Errorf("one that cannot be read: %+v, %v", all, err)
	}
}

// An id finds the live endpoint that has it, with its public attributes, whatever other rows and attributes say.
func TestEndpoints_Published_findsALiveEndpointByItsIDAlone(t *testing.T) {
	r := newRig(t)
	mine, theirs := newEndpoint("acme", createdAt), newEndpoint("globex", createdAt)
	mine.PublicKey, mine.PreviousKey, mine.PreviousUntil = "whpk_2", "whpk_1", createdAt.Add(time.Hour)
	theirs.PublicKey = "whpk_theirs"
	for _, e := range []endpoint.Endpoint{mine, theirs} {
		if err := r.endpoints.Create(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, want endpoint.Endpoint, id string) {
		t.Helper()
		got, found, err := r.endpoints.Published(t.Context(), id)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || found != (want.ID != "") {
			t.Errorf("%s: %v, found %v (-want +got):\n%s", what, err, found, diff)
		}
	}
	published := endpoint.Endpoint{
		ID: mine.ID, TenantID: "acme", PublicKey: "whpk_2", PreviousKey: "whpk_1", PreviousUntil: createdAt.Add(time.Hour),
	}
	expect("a live one", published, mine.ID)
	expect("none", endpoint.Endpoint{}, endpoint.NewID(createdAt))
	for _, other := range []string{"#counts", "#marks", "deleted#" + mine.ID} {
		expect(other, endpoint.Endpoint{}, other)
	}
	forged := keyOf("tenant_id", "marks#acme", "endpoint_id", mine.ID, "public_key", "whpk_forged", "status", "active")
	r.put(r.tables.Endpoints, forged)
	expect("by a row that control may write", published, mine.ID)
	deleted := gone(mine, createdAt)
	if err := r.endpoints.Replace(t.Context(), mine, deleted); err != nil {
		t.Fatal(err)
	}
	expect("deleted", endpoint.Endpoint{}, mine.ID)
	if err := r.endpoints.Replace(t.Context(), deleted, back(deleted)); err != nil {
		t.Fatal(err)
	}
	expect("restored", published, mine.ID)
	r.put(r.tables.Endpoints, keyOf("tenant_id", "thief", "endpoint_id", mine.ID, "public_key", "whpk_forged"))
	if _, found, err := r.endpoints.Published(t.Context(), mine.ID); !errors.Is(err, endpoint.ErrUnreadable) || found {
		t.Errorf("of two tenants: found %v, %v", found, err)
	}
}
