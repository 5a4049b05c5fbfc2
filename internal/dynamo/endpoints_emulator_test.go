//go:build emulator

package dynamo_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var createdAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func newEndpoint(tenant string, at time.Time) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID: endpoint.NewID(at), TenantID: tenant, URL: "https://example.com/hooks", Status: endpoint.Active,
		Events:    []string{"user.*", "organization.created"},
		CreatedAt: at, UpdatedAt: at, SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: rand.Text(),
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

// patiently makes a change until other endpoints' changes are no longer in its way.
func patiently(change func() error) (err error) {
	for range 1000 {
		if err = change(); !errors.Is(err, dynamo.ErrBusy) {
			return err
		}
		time.Sleep(time.Duration(mathrand.N(20)) * time.Millisecond)
	}
	return err
}

func back(e endpoint.Endpoint) endpoint.Endpoint {
	e.Status, e.DeletedAt, e.Revision = endpoint.Active, time.Time{}, rand.Text()
	return e
}

// counts are acme's live endpoints as counted, and as there are.
func (r rig) counts() string {
	r.t.Helper()
	counted := "0"
	row := r.stored(r.tables.Endpoints, rowKey("acme", "#counts"))
	if n, ok := row["live_count"].(*types.AttributeValueMemberN); ok {
		counted = n.Value
	}
	all := listEndpoints(r.t, r.endpoints)
	live := len(slices.DeleteFunc(slices.Clone(all), func(e endpoint.Endpoint) bool { return !e.Live() }))
	return fmt.Sprintf("counted %s, are %d of %d", counted, live, len(all))
}

func rowKey(tenant, key string) item { return keyOf("tenant_id", tenant, "endpoint_id", key) }

func listEndpoints(t *testing.T, s *dynamo.Endpoints) []endpoint.Endpoint {
	t.Helper()
	all, err := s.List(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustReplace(t *testing.T, s *dynamo.Endpoints, was, now endpoint.Endpoint) endpoint.Endpoint {
	t.Helper()
	if err := s.Replace(t.Context(), was, now); err != nil {
		t.Fatal(err)
	}
	return now
}

func TestEndpoints_Get_returnsEveryFieldWhateverTheStatus(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	row := func(key string) item { return r.stored(r.tables.Endpoints, rowKey("acme", key)) }
	e := mustCreate(t, s, "acme", createdAt)
	changed := e
	changed.Description, changed.Status, changed.Revision = "ä", endpoint.Disabled, "2"
	changed.SecretRotatedAt = createdAt.Add(time.Second)
	bare := changed
	bare.Description, bare.SecretRotatedAt, bare.Revision = "", time.Time{}, "3"
	deleted := gone(bare, createdAt.Add(time.Minute))
	rotated := deleted
	rotated.SecretVersion, rotated.SealedSecret, rotated.Revision = 2, []byte("sealed again"), "4"
	for was, want := range pairs(e, changed, bare, deleted, rotated, back(rotated)) {
		if want.Revision != was.Revision {
			mustReplace(t, s, was, want)
		}
		if diff := cmp.Diff(want, getEndpoint(t, s, e.ID)); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]endpoint.Endpoint{want}, listEndpoints(t, s)); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		live, deleted := row(e.ID), row("deleted#"+e.ID)
		if (len(live) > 0) != want.Live() || (len(deleted) > 0) == want.Live() || live["expires_at"] != nil {
			t.Errorf("a %s endpoint has the rows %v and %v", want.Status, live, deleted)
		}
		at, ok := deleted["expires_at"].(*types.AttributeValueMemberN)
		if !want.Live() && (!ok || at.Value != fmt.Sprint(want.DeletedAt.Add(30*24*time.Hour).Unix())) {
			t.Errorf("expires at %+v", at)
		}
	}
	if got := r.counts(); got != "counted 1, are 1 of 1" {
		t.Error(got)
	}
}

// pairs are an endpoint's states, each with the one before.
func pairs(states ...endpoint.Endpoint) iter.Seq2[endpoint.Endpoint, endpoint.Endpoint] {
	return func(yield func(was, now endpoint.Endpoint) bool) {
		for n := range states {
			if !yield(states[max(n-1, 0)], states[n]) {
				return
			}
		}
	}
}

func getEndpoint(t *testing.T, s *dynamo.Endpoints, id string) endpoint.Endpoint {
	t.Helper()
	e, found, err := s.Get(t.Context(), "acme", id)
	if err != nil || !found {
		t.Fatalf("getting %s: found %v, %v", id, found, err)
	}
	return e
}

// One row that somebody has broken hides no other endpoint; but an event for all is not fanned out to some.
func TestEndpoints_List_returnsTheOthersBesideAnUnreadableRow(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	broken, want := mustCreate(t, s, "acme", createdAt), mustCreate(t, s, "acme", createdAt)
	r.breaks(r.tables.Endpoints, "events", rowKey("acme", broken.ID))
	all, err := s.List(t.Context(), "acme")
	if diff := cmp.Diff([]endpoint.Endpoint{want}, all); diff != "" || !errors.Is(err, endpoint.ErrUnreadable) {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, err := s.Subscriptions(t.Context(), "acme"); !errors.Is(err, endpoint.ErrUnreadable) {
		t.Errorf("subscriptions: %v", err)
	}
	if _, _, err := s.Get(t.Context(), "acme", broken.ID); !errors.Is(err, endpoint.ErrUnreadable) {
		t.Errorf("the row itself: %v", err)
	}
}

func TestEndpoints_Replace_isAConflictWhenItChangedMeanwhile(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	e := mustCreate(t, s, "acme", createdAt)
	first, second := e, e
	first.URL, first.Revision = "https://first.example", "first"
	second.Description, second.Revision = "second", "second"
	if err := s.Replace(t.Context(), e, first); err != nil {
		t.Fatal(err)
	}
	for name, now := range map[string]endpoint.Endpoint{"a change": second, "a deletion": gone(e, createdAt)} {
		if err := s.Replace(t.Context(), e, now); !errors.Is(err, dynamo.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	never := newEndpoint("acme", createdAt)
	if err := s.Replace(t.Context(), never, gone(never, createdAt)); !errors.Is(err, dynamo.ErrConflict) {
		t.Errorf("a deletion of nothing: %v", err)
	}
	deleted := gone(first, createdAt)
	if err := s.Replace(t.Context(), deleted, back(deleted)); !errors.Is(err, dynamo.ErrConflict) {
		t.Errorf("a restoration of one that lives: %v", err)
	}
	if diff := cmp.Diff(first, getEndpoint(t, s, e.ID)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if got := r.counts(); got != "counted 1, are 1 of 1" {
		t.Error(got)
	}
}

func TestEndpoints_Create_keepsToFiftyLiveHoweverManyAtOnce(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	var deleted []endpoint.Endpoint
	for i := range 15 {
		e := mustCreate(t, s, "acme", createdAt.Add(time.Duration(i)*time.Millisecond))
		deleted = append(deleted, mustReplace(t, s, e, gone(e, createdAt.Add(time.Minute))))
	}
	errs := make([]error, 70)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range errs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if i < len(deleted) {
				errs[i] = patiently(func() error { return s.Replace(t.Context(), deleted[i], back(deleted[i])) })
				return
			}
			made := newEndpoint("acme", createdAt.Add(time.Hour))
			errs[i] = patiently(func() error { return s.Create(t.Context(), made, nil) })
		})
	}
	wait.Wait()
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case !errors.Is(err, dynamo.ErrLimit):
			t.Errorf("unexpected: %v", err)
		}
	}
	if made != endpoint.MaxLive {
		t.Errorf("%d succeeded", made)
	}
	want := fmt.Sprintf("counted 50, are 50 of %d", len(listEndpoints(t, s)))
	if got := r.counts(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	mustCreate(t, s, "globex", createdAt) // another tenant does not notice
}

func TestEndpoints_Prune_removesTheLongestDeletedBeyondAHundredAndFifty(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	e := mustCreate(t, s, "acme", createdAt)
	mustReplace(t, s, e, gone(e, createdAt.Add(time.Hour)))
	var oldest, second string
	row := r.stored(r.tables.Endpoints, rowKey("acme", "deleted#"+e.ID))
	for n := range endpoint.MaxTotal - endpoint.MaxLive {
		oldest, second = fmt.Sprint("webhook_", n), oldest
		row["endpoint_id"] = text("deleted#" + oldest)
		row["deleted_at"] = text(createdAt.Add(-time.Duration(n) * time.Hour).Format("2006-01-02T15:04:05.000Z"))
		r.put(r.tables.Endpoints, row)
	}
	mustCreate(t, s, "acme", createdAt.Add(2*time.Hour))
	for range 2 { // the second time there is nothing to remove
		if err := s.Prune(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{oldest: false, second: true, e.ID: true} {
			if _, found, err := s.Get(t.Context(), "acme", id); err != nil || found != want {
				t.Errorf("%s is there: %v, want %v (%v)", id, found, want, err)
			}
		}
		if got := r.counts(); got != "counted 1, are 1 of 151" {
			t.Error(got)
		}
	}
	deleted, err := s.Deleted(t.Context(), "acme")
	if live, failed := s.Live(t.Context(), "acme"); err != nil || failed != nil || len(deleted) != 150 || len(live) != 1 {
		t.Errorf("%d deleted and %d live: %v, %v", len(deleted), len(live), err, failed)
	}
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

// A tenant at its limit may move an endpoint: only the URLs of others are in its way.
func TestEndpoints_Readdress_isBusyRatherThanBeyondTheLimit(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	other := mustCreate(t, s, "acme", createdAt)
	e := mustCreate(t, s, "acme", createdAt)
	for range endpoint.MaxLive - 2 {
		mustCreate(t, s, "acme", createdAt)
	}
	moved := e
	moved.Revision = rand.Text()
	overtaken := func([]endpoint.Endpoint) error { // between the check and the write
		return s.Readdress(t.Context(), other, same(other), func([]endpoint.Endpoint) error { return nil })
	}
	if err := s.Readdress(t.Context(), e, moved, overtaken); !errors.Is(err, dynamo.ErrBusy) {
		t.Errorf("%v, want that it is busy", err)
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

func TestEndpoints_Subscriptions_areTheActiveOnesWithoutTheirSecrets(t *testing.T) {
	r := newRig(t)
	s := r.endpoints
	all := make([]endpoint.Endpoint, 3)
	for i := range all {
		all[i] = mustCreate(t, s, "acme", createdAt.Add(time.Duration(i)*time.Second))
	}
	disabled := all[1]
	disabled.Status, disabled.Revision = endpoint.Disabled, rand.Text()
	mustReplace(t, s, all[1], disabled)
	mustReplace(t, s, all[2], gone(all[2], createdAt))
	active, err := s.Subscriptions(t.Context(), "acme")
	want := []endpoint.Endpoint{
		{TenantID: "acme", ID: all[0].ID, Events: all[0].Events, Status: endpoint.Active},
	}
	if diff := cmp.Diff(want, active); err != nil || diff != "" {
		t.Errorf("subscriptions: %v (-want +got):\n%s", err, diff)
	}
	r.wantConsistentReads()
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

// Of URLs that are set at once, each is checked beside all that were set before it.
func TestEndpoints_Create_checksEachURLBesideTheOthers(t *testing.T) {
	const victim = "https://victim.example/"
	s := newRig(t).endpoints
	taken := errors.New("taken")
	once := func(live []endpoint.Endpoint) error {
		for _, e := range live {
			if e.URL == victim {
				return taken
			}
		}
		return nil
	}
	const n = 4
	var made, deleted []endpoint.Endpoint
	for i := range n {
		e := newEndpoint("acme", createdAt.Add(time.Duration(i)*time.Second))
		e.URL = "https://example.com/" + e.ID
		if err := s.Create(t.Context(), e, once); err != nil {
			t.Fatal(err)
		}
		made = append(made, e)
		e = newEndpoint("acme", createdAt)
		e.URL = victim
		if err := s.Create(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, mustReplace(t, s, e, gone(e, createdAt)))
	}
	errs := make([]error, 3*n)
	var wait sync.WaitGroup
	for i := range n {
		created, moved := newEndpoint("acme", createdAt.Add(time.Hour)), made[i]
		created.URL, moved.URL, moved.Revision = victim, victim, moved.Revision+"x"
		wait.Go(func() { errs[i] = patiently(func() error { return s.Create(t.Context(), created, once) }) })
		wait.Go(func() {
			errs[n+i] = patiently(func() error { return s.Readdress(t.Context(), made[i], moved, once) })
		})
		wait.Go(func() {
			errs[2*n+i] = patiently(func() error { return s.Readdress(t.Context(), deleted[i], back(deleted[i]), once) })
		})
	}
	wait.Wait()
	set := 0
	for _, err := range errs {
		switch {
		case err == nil:
			set++
		case !errors.Is(err, taken):
			t.Error(err)
		}
	}
	if set != 1 {
		t.Errorf("the URL was set %d times", set)
	}
}
