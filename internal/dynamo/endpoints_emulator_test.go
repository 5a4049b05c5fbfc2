//go:build emulator

package dynamo_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var createdAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// endpoints is the store behind a fault proxy.
func endpoints(t *testing.T) (*dynamo.Endpoints, *testkit.Faults, *dynamodb.Client, string) {
	t.Helper()
	cfg := testkit.Moto(t)
	table := testkit.Tables(t, cfg).Endpoints
	faults := testkit.NewFaults(t, cfg)
	s := dynamo.NewEndpoints(dynamodb.NewFromConfig(faults.Config()), table)
	return s, faults, dynamodb.NewFromConfig(cfg), table
}

func newEndpoint(t *testing.T, tenant string, at time.Time) endpoint.Endpoint {
	t.Helper()
	id, err := endpoint.NewID(at, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return endpoint.Endpoint{
		ID: id, TenantID: tenant, URL: "https://example.com/hooks", Status: endpoint.Active,
		Events:    []string{"user.*", "organization.created"},
		CreatedAt: at, UpdatedAt: at, SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: rand.Text(),
	}
}

func mustCreate(t *testing.T, s *dynamo.Endpoints, tenant string, at time.Time) endpoint.Endpoint {
	t.Helper()
	e := newEndpoint(t, tenant, at)
	if err := s.Create(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return e
}

// gone returns e as it is after deletion at the time.
func gone(e endpoint.Endpoint, at time.Time) endpoint.Endpoint {
	e.Status, e.DeletedAt, e.UpdatedAt, e.Revision = endpoint.Deleted, at, at, rand.Text()
	return e
}

func back(e endpoint.Endpoint) endpoint.Endpoint {
	e.Status, e.DeletedAt, e.Revision = endpoint.Active, time.Time{}, rand.Text()
	return e
}

// counts are live and total as counted, and as there are.
func counts(t *testing.T, s *dynamo.Endpoints, client *dynamodb.Client, table, tenant string) string {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{
		"tenant_id":   &types.AttributeValueMemberS{Value: tenant},
		"endpoint_id": &types.AttributeValueMemberS{Value: "#counts"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.List(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	live := len(slices.DeleteFunc(slices.Clone(all), func(e endpoint.Endpoint) bool { return !e.Live() }))
	n := func(name string) string {
		if v, ok := out.Item[name].(*types.AttributeValueMemberN); ok {
			return v.Value
		}
		return "0"
	}
	return fmt.Sprintf("counted %s of %s, are %d of %d", n("live_count"), n("total_count"), live, len(all))
}

func TestEndpoints_Get_returnsWhatWasStored(t *testing.T) {
	s, _, _, _ := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	changed := e
	changed.Description, changed.Status, changed.Revision = "ä", endpoint.Disabled, "2"
	changed.SecretRotatedAt = createdAt.Add(time.Second)
	for _, want := range []endpoint.Endpoint{e, changed, gone(changed, createdAt.Add(time.Minute))} {
		if want.Revision != e.Revision {
			if err := s.Replace(t.Context(), e, want); err != nil {
				t.Fatal(err)
			}
			e = want
		}
		if diff := cmp.Diff(want, getEndpoint(t, s, e.ID)); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
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

func TestEndpoints_List_keepsToItsTenant(t *testing.T) {
	s, _, _, _ := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	if _, found, err := s.Get(t.Context(), "globex", e.ID); found || err != nil {
		t.Errorf("Get finds another tenant's: %v %v", found, err)
	}
	for _, tenant := range []string{"globex", "acm", "acme2"} {
		if all, err := s.List(t.Context(), tenant); err != nil || len(all) != 0 {
			t.Errorf("List of %s: %v %v", tenant, all, err)
		}
	}
	if _, found, err := s.Get(t.Context(), "acme", "webhook_#counts"); found || err != nil {
		t.Errorf("the counts can be had as an endpoint: %v", err)
	}
}

func TestEndpoints_Replace_isAConflictWhenItChangedMeanwhile(t *testing.T) {
	s, _, client, table := endpoints(t)
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
	never := newEndpoint(t, "acme", createdAt)
	if err := s.Replace(t.Context(), never, gone(never, createdAt)); !errors.Is(err, dynamo.ErrConflict) {
		t.Errorf("deleting what never was: %v", err)
	}
	if diff := cmp.Diff(first, getEndpoint(t, s, e.ID)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if got := counts(t, s, client, table, "acme"); got != "counted 1 of 1, are 1 of 1" {
		t.Error(got)
	}
}

func TestEndpoints_Create_keepsToFiftyLiveHoweverManyAtOnce(t *testing.T) {
	s, _, client, table := endpoints(t)
	var deleted []endpoint.Endpoint
	for i := range 15 {
		e := mustCreate(t, s, "acme", createdAt.Add(time.Duration(i)*time.Millisecond))
		was := e
		e = gone(e, createdAt.Add(time.Minute))
		if err := s.Replace(t.Context(), was, e); err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, e)
	}
	errs := make([]error, 70)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range errs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if i < len(deleted) {
				errs[i] = s.Replace(t.Context(), deleted[i], back(deleted[i]))
				return
			}
			errs[i] = s.Create(t.Context(), newEndpoint(t, "acme", createdAt.Add(time.Hour)))
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
	want := fmt.Sprintf("counted 50 of %[1]d, are 50 of %[1]d", total(t, s))
	if got := counts(t, s, client, table, "acme"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	mustCreate(t, s, "globex", createdAt) // another tenant does not notice
}

func total(t *testing.T, s *dynamo.Endpoints) int {
	t.Helper()
	all, err := s.List(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestEndpoints_Create_purgesTheLongestDeletedBeyondTwoHundred(t *testing.T) {
	s, faults, client, table := endpoints(t)
	ids := seedDeleted(t, s, client, table, endpoint.MaxTotal)
	oldest, second := ids[len(ids)-1], ids[len(ids)-2] // the younger were deleted first
	faults.Reset()
	e := mustCreate(t, s, "acme", createdAt.Add(2*time.Hour))
	if n := len(faults.Calls("")); n != 2 {
		t.Errorf("%d calls to create with a purge, want 2", n)
	}
	for id, want := range map[string]bool{oldest: false, second: true, e.ID: true} {
		if _, found, err := s.Get(t.Context(), "acme", id); err != nil || found != want {
			t.Errorf("%s is there: %v, want %v (%v)", id, found, want, err)
		}
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := s.Create(t.Context(), newEndpoint(t, "acme", createdAt.Add(3*time.Hour))); err != nil {
				t.Errorf("creating at once with others: %v", err)
			}
		})
	}
	wait.Wait()
	if got := counts(t, s, client, table, "acme"); got != "counted 5 of 200, are 5 of 200" {
		t.Error(got)
	}
}

// seedDeleted fills a tenant with n endpoints, the youngest deleted first, much faster than
// the store would.
func seedDeleted(t *testing.T, s *dynamo.Endpoints, client *dynamodb.Client, table string, n int) []string {
	t.Helper()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	e := mustCreate(t, s, "acme", createdAt)
	if err := s.Replace(t.Context(), e, gone(e, createdAt.Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	key := map[string]types.AttributeValue{"tenant_id": text("acme"), "endpoint_id": text(e.ID)}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{e.ID}
	items := []map[string]types.AttributeValue{{
		"tenant_id": text("acme"), "endpoint_id": text("#counts"),
		"live_count":  &types.AttributeValueMemberN{Value: "0"},
		"total_count": &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
	}}
	for i := 1; i < n; i++ {
		item := maps.Clone(out.Item)
		next := newEndpoint(t, "acme", createdAt.Add(time.Duration(i)*time.Second))
		item["endpoint_id"], item["revision"] = text(next.ID), text(next.Revision)
		deletedAt := createdAt.Add(time.Hour - time.Duration(i)*time.Second)
		item["deleted_at"] = text(deletedAt.Format("2006-01-02T15:04:05.000Z"))
		ids, items = append(ids, next.ID), append(items, item)
	}
	for chunk := range slices.Chunk(items, 25) {
		var writes []types.WriteRequest
		for _, item := range chunk {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: writes},
		}); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

func TestEndpoints_Replace_findsAWriteDoneWhoseAnswerWasLost(t *testing.T) {
	s, faults, client, table := endpoints(t)
	faults.On("TransactWriteItems", 1, testkit.DropAnswer())
	e := mustCreate(t, s, "acme", createdAt)
	now := e
	now.URL, now.Revision = "https://second.example", "second"
	faults.On("PutItem", 1, testkit.DropAnswer())
	if err := s.Replace(t.Context(), e, now); err != nil {
		t.Errorf("a change: %v", err)
	}
	deleted := gone(now, createdAt)
	faults.On("TransactWriteItems", 1, testkit.DropAnswer())
	if err := s.Replace(t.Context(), now, deleted); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	if got := counts(t, s, client, table, "acme"); got != "counted 0 of 1, are 0 of 1" {
		t.Error(got)
	}
}

func TestEndpoints_transact_triesAgainWhenAnotherIsInTheWay(t *testing.T) {
	s, _, client, table := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	busy := conflicting{Client: client, left: 2}
	store := dynamo.NewEndpoints(&busy, table)
	if err := store.Replace(t.Context(), e, gone(e, createdAt)); err != nil || busy.left != 0 {
		t.Errorf("deleting: %v with %d conflicts left, want none", err, busy.left)
	}
	busy.left = 2
	if err := store.Create(t.Context(), newEndpoint(t, "acme", createdAt)); err != nil || busy.left != 0 {
		t.Errorf("creating: %v with %d conflicts left, want none", err, busy.left)
	}
	busy.left = 1000
	if err := store.Create(t.Context(), newEndpoint(t, "acme", createdAt)); !errors.Is(err, dynamo.ErrConflict) {
		t.Errorf("creating against all odds: %v, want a conflict", err)
	}
}

// conflicting answers as DynamoDB does while another transaction holds an item, which the
// emulator cannot.
type conflicting struct {
	*dynamodb.Client
	left int
}

func (c *conflicting) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.left == 0 {
		return c.Client.TransactWriteItems(ctx, in, o...)
	}
	c.left--
	reasons := []types.CancellationReason{{Code: aws.String("None")}, {Code: aws.String("TransactionConflict")}}
	return nil, fmt.Errorf("calling: %w", &types.TransactionCanceledException{CancellationReasons: reasons})
}

func TestEndpoints_Replace_tellsThrottlingFromConflictAndLimit(t *testing.T) {
	s, faults, _, _ := endpoints(t)
	e := mustCreate(t, s, "acme", createdAt)
	faults.On("", 0, testkit.Throttle())
	for name, err := range map[string]error{
		"create": s.Create(t.Context(), newEndpoint(t, "acme", createdAt)),
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

func TestEndpoints_Subscriptions_areTheActiveOnes(t *testing.T) {
	s, faults, _, _ := endpoints(t)
	stored := createStatuses(t, s)
	active, err := s.Subscriptions(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(stored, func(e endpoint.Endpoint) bool { return e.Status != endpoint.Active })
	byID := cmpopts.SortSlices(func(a, b endpoint.Endpoint) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, active, byID); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	wantConsistentReads(t, faults)
}

// createStatuses stores six endpoints, one of them deleted and one disabled.
func createStatuses(t *testing.T, s *dynamo.Endpoints) []endpoint.Endpoint {
	t.Helper()
	all := make([]endpoint.Endpoint, 6)
	for i := range all {
		all[i] = mustCreate(t, s, "acme", createdAt.Add(time.Duration(i)*time.Second))
	}
	deleted, disabled := gone(all[1], createdAt), all[2]
	disabled.Status, disabled.Revision = endpoint.Disabled, rand.Text()
	for i, now := range map[int]endpoint.Endpoint{1: deleted, 2: disabled} {
		if err := s.Replace(t.Context(), all[i], now); err != nil {
			t.Fatal(err)
		}
		all[i] = now
	}
	return all
}

func wantConsistentReads(t *testing.T, faults *testkit.Faults) {
	t.Helper()
	for _, c := range faults.Calls("") {
		read := slices.Contains([]string{"Query", "BatchGetItem", "GetItem"}, c.Action)
		if read && !bytes.Contains(c.Body, []byte(`"ConsistentRead":true`)) {
			t.Errorf("%s is not strongly consistent: %s", c.Action, c.Body)
		}
	}
}
