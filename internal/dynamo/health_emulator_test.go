//go:build emulator

package dynamo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func newHealth(t *testing.T) (*dynamo.Health, *testkit.Faults) {
	t.Helper()
	cfg := testkit.Moto(t)
	faults := testkit.NewFaults(t, cfg)
	return dynamo.NewHealth(dynamodb.NewFromConfig(faults.Config()), testkit.Tables(t, cfg).EndpointHealth), faults
}

// full has a value in every field.
func full(endpointID string, version int64) health.Item {
	return health.Item{
		TenantID: "t", EndpointID: endpointID, Version: version,
		State: health.Recovering, Since: at, Changed: at.Add(1 * time.Second),
		Paused: true, Held: true, DiscardedBefore: at.Add(2 * time.Second),
		Failures: 4, FailingSince: at.Add(3 * time.Second), FailedAt: at.Add(4 * time.Second),
		Deliveries: []string{"msg_2", "msg_1"}, LastStatus: 503, LastReason: "http_5xx",
		Probes: 5, Probe: 1 << 60, ProbedAt: at.Add(5 * time.Second), NextProbe: at.Add(6 * time.Second),
		ProbeFailed: at.Add(7 * time.Second),
		Ticks:       6, Quota: 960, Full: true, Oldest: at.Add(8 * time.Second), Ordered: true,
	}
}

func must(t *testing.T, s *dynamo.Health, w health.Write) {
	t.Helper()
	if _, applied, err := s.Apply(t.Context(), w); err != nil || !applied {
		t.Fatalf("%v, %v", applied, err)
	}
}

func trouble(t *testing.T, s *dynamo.Health) []health.Item {
	t.Helper()
	items, next, err := s.Trouble(t.Context(), 0, "")
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	slices.SortFunc(items, func(a, b health.Item) int {
		return strings.Compare(a.EndpointID+a.TenantID, b.EndpointID+b.TenantID)
	})
	return items
}

func TestHealth_Apply_storesEveryField(t *testing.T) {
	s, _ := newHealth(t)
	want := full("webhook_1", 7)
	stored, applied, err := s.Apply(t.Context(), health.Write{Kind: health.Put, Item: want})
	if diff := cmp.Diff(want, stored); err != nil || !applied || diff != "" {
		t.Errorf("%v, %v (-want +got)\n%s", applied, err, diff)
	}
	if diff := cmp.Diff([]health.Item{want}, trouble(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func drawItem(t *rapid.T, name health.Item) health.Item {
	i := full(name.EndpointID, 0)
	i.TenantID = name.TenantID
	i.State = rapid.SampledFrom([]health.State{
		health.None, health.Failing, health.Open, health.Recovering, health.Disabled,
	}).Draw(t, "state")
	i.Paused, i.Held = rapid.Bool().Draw(t, "paused"), rapid.Bool().Draw(t, "held")
	if rapid.Bool().Draw(t, "discards nothing") {
		i.DiscardedBefore = time.Time{}
	}
	if rapid.Bool().Draw(t, "no failures") {
		i.Failures, i.FailingSince, i.FailedAt, i.Deliveries = 0, time.Time{}, time.Time{}, nil
	}
	i.Since = at.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "since")) * time.Millisecond)
	return i
}

// The store does what health.Write.Apply says, whatever is stored and whatever is asked for.
func TestHealth_Apply_agreesWithTheReference(t *testing.T) {
	s, _ := newHealth(t)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++ // an item of its own
		stored := health.Item{TenantID: "t", EndpointID: fmt.Sprint("webhook_", round)}
		if rapid.Bool().Draw(t, "of a tenant") {
			stored = health.Item{TenantID: fmt.Sprint("t_", round)}
		}
		version := int64(0)
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			w := health.Write{
				Kind: rapid.SampledFrom([]health.Kind{
					health.Put, health.Put, health.Put, health.Delete, health.ClearFailing, health.ClearRun,
				}).Draw(t, "kind"),
				If: rapid.SampledFrom([]int64{
					stored.Version, stored.Version, stored.Version, 0, version,
				}).Draw(t, "if"),
				Item: drawItem(t, stored),
			}
			version += 10
			w.Item.Version = version
			want, wantApplied := w.Apply(stored)
			got, applied, err := s.Apply(t.Context(), w)
			if diff := cmp.Diff(want, got); err != nil || applied != wantApplied || diff != "" {
				t.Fatalf("%+v: %v, want %v; %v (-want +got)\n%s", w, applied, wantApplied, err, diff)
			}
			stored = want
		}
	})
}

func TestHealth_Apply_ofNothingMakesNoCall(t *testing.T) {
	s, faults := newHealth(t)
	if _, applied, err := s.Apply(t.Context(), health.Write{}); err != nil || !applied || len(faults.Calls("")) > 0 {
		t.Errorf("%v, %v, %d calls", applied, err, len(faults.Calls("")))
	}
}

// The SDK asks again when an answer is lost, and is then refused by its own write.
func TestHealth_Apply_knowsItsOwnWriteAgain(t *testing.T) {
	s, faults := newHealth(t)
	for _, w := range []health.Write{
		{Kind: health.Put, Item: full("webhook_1", 7)}, {Kind: health.Put, If: 7, Item: full("webhook_1", 8)},
	} {
		faults.On("PutItem", 1, testkit.DropAnswer())
		if stored, applied, err := s.Apply(t.Context(), w); err != nil || !applied || stored.Version != w.Item.Version {
			t.Errorf("version %d: %v, %v, %v", w.Item.Version, stored, applied, err)
		}
	}
	// The same write by another process is refused.
	again := health.Write{Kind: health.Put, If: 7, Item: full("webhook_1", 8)}
	if _, applied, err := s.Apply(t.Context(), again); err != nil || applied {
		t.Errorf("%v, %v", applied, err)
	}
}

func TestHealth_Apply_tellsAFaultFromARefusal(t *testing.T) {
	s, faults := newHealth(t)
	for action, kind := range map[string]health.Kind{
		"PutItem": health.Put, "DeleteItem": health.Delete, "UpdateItem": health.ClearRun,
	} {
		faults.On(action, 0, testkit.Fail(400, "ResourceNotFoundException"))
		w := health.Write{Kind: kind, If: 1, Item: full("webhook_1", 7)}
		if _, applied, err := s.Apply(t.Context(), w); err == nil || applied {
			t.Errorf("%s: %v, %v", action, applied, err)
		}
	}
}

func TestHealth_Trouble_leavesOutNotesAndPages(t *testing.T) {
	s, _ := newHealth(t)
	var want []health.Item
	for n := range 5 {
		want = append(want, full(fmt.Sprint("webhook_", n), 7))
		must(t, s, health.Write{Kind: health.Put, Item: want[n]})
		note := health.Note{EndpointID: fmt.Sprint(n), Queue: health.RetryQueue, Process: "p", Until: at}
		if err := s.PutNote(t.Context(), note); err != nil {
			t.Fatal(err)
		}
	}
	tenant := health.Item{TenantID: "x", Version: 3, Paused: true, Changed: at}
	must(t, s, health.Write{Kind: health.Put, Item: tenant})
	want = append(want, tenant)
	if diff := cmp.Diff(want, trouble(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	found := 0
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := s.Trouble(t.Context(), 2, cursor)
		if err != nil || len(page) > 2 {
			t.Fatal(len(page), err)
		}
		found, cursor = found+len(page), next
	}
	if found != len(want) {
		t.Errorf("%d in pages of two, want %d", found, len(want))
	}
	if _, _, err := s.Trouble(t.Context(), 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("cursor: %v", err)
	}
}

func TestHealth_Notes(t *testing.T) {
	s, faults := newHealth(t)
	note := func(endpointID, process string, until time.Duration) health.Note {
		return health.Note{EndpointID: endpointID, Queue: health.DeliveryQueue, Process: process, Until: at.Add(until)}
	}
	over, old := note("webhook_1", "a", -time.Second), note("webhook_1", "b", -time.Hour)
	want := []health.Note{note("webhook_1", "c", time.Second), note("webhook_2", "a", time.Minute)}
	back := note("webhook_2", "b", time.Minute)
	for _, n := range append(want, over, old, back) {
		if err := s.PutNote(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteNote(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	got, err := s.Notes(t.Context(), at)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if n := len(faults.Calls("Query")); n != 1 {
		t.Errorf("%d queries, want one", n)
	}
	if swept, err := s.SweepNotes(t.Context(), at.Add(-time.Minute)); swept != 1 || err != nil {
		t.Errorf("swept %d, %v; want the one of an hour ago", swept, err)
	}
	if all, err := s.Notes(t.Context(), at.Add(-24*time.Hour)); len(all) != 3 || err != nil {
		t.Errorf("left %v, %v", all, err)
	}
}

type readerRig struct {
	endpoints *dynamo.Endpoints
	health    *dynamo.Health
	reader    *dynamo.Reader
	faults    *testkit.Faults
	tables    testkit.TableNames
}

type readings = map[dynamo.EndpointKey]dynamo.Reading

func newReader(t *testing.T) readerRig {
	t.Helper()
	cfg := testkit.Moto(t)
	faults, tables := testkit.NewFaults(t, cfg), testkit.Tables(t, cfg)
	client := dynamodb.NewFromConfig(cfg)
	return readerRig{
		endpoints: dynamo.NewEndpoints(client, tables.Endpoints),
		health:    dynamo.NewHealth(client, tables.EndpointHealth),
		reader: dynamo.NewReader(dynamo.ReaderConfig{
			Client:    dynamodb.NewFromConfig(faults.Config()),
			Endpoints: tables.Endpoints, EndpointHealth: tables.EndpointHealth,
		}),
		faults: faults, tables: tables,
	}
}

// trouble makes n tenants of one endpoint each: in trouble, and its tenant paused, where n is odd.
func (r readerRig) trouble(t *testing.T, n int) (keys []dynamo.EndpointKey, want readings) {
	t.Helper()
	want = readings{}
	for n := range n {
		tenant := fmt.Sprint("t_", n)
		e := mustCreate(t, r.endpoints, tenant, createdAt)
		reading := dynamo.Reading{
			Endpoint: e, Found: true, HealthRead: true, View: health.View{TenantID: tenant, EndpointID: e.ID},
		}
		if n%2 == 1 {
			reading.View.Endpoint = full(e.ID, 7)
			reading.View.Tenant = health.Item{TenantID: tenant, Version: 3, Paused: true}
			must(t, r.health, health.Write{Kind: health.Put, Item: reading.View.Endpoint})
			must(t, r.health, health.Write{Kind: health.Put, Item: reading.View.Tenant})
		}
		key := dynamo.EndpointKey{TenantID: tenant, EndpointID: e.ID}
		keys, want[key] = append(keys, key), reading
	}
	return keys, want
}

func TestReader_Read_readsEndpointsAndHealthInOneCall(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 33)
	unknown := dynamo.EndpointKey{TenantID: "t_0", EndpointID: "webhook_x"}
	keys = append(keys, keys[0])
	got, err := r.reader.Read(t.Context(), keys)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if n := len(r.faults.Calls("BatchGetItem")); n != 1 {
		t.Errorf("%d calls for 99 keys, want one", n)
	}
	want[unknown] = dynamo.Reading{HealthRead: true, View: health.View{TenantID: "t_0", EndpointID: "webhook_x"}}
	got, err = r.reader.Read(t.Context(), append(keys, unknown))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if n := len(r.faults.Calls("BatchGetItem")); n != 3 {
		t.Errorf("%d calls, want two more for 101 keys", n)
	}
	if got, err := r.reader.Read(t.Context(), nil); err != nil || len(got) > 0 || len(r.faults.Calls("")) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReader_Read_mayReadHealthBehindAndNothingElse(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 2)
	behind := dynamo.NewReader(dynamo.ReaderConfig{
		Client: dynamodb.NewFromConfig(r.faults.Config()), EventualHealth: true,
		Endpoints: r.tables.Endpoints, EndpointHealth: r.tables.EndpointHealth,
	})
	for n, reader := range []*dynamo.Reader{r.reader, behind} {
		got, err := reader.Read(t.Context(), keys)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		var call struct {
			RequestItems map[string]struct{ ConsistentRead bool }
		}
		if err := json.Unmarshal(r.faults.Calls("BatchGetItem")[n].Body, &call); err != nil {
			t.Fatal(err)
		}
		consistent := map[string]bool{}
		for table, ask := range call.RequestItems {
			consistent[table] = ask.ConsistentRead
		}
		wanted := map[string]bool{r.tables.Endpoints: true, r.tables.EndpointHealth: n == 0}
		if diff := cmp.Diff(wanted, consistent); diff != "" {
			t.Errorf("strongly consistent (-want +got)\n%s", diff)
		}
	}
}

func TestReader_Read_asksAgainForWhatWasLeft(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 4)
	r.faults.On("BatchGetItem", 1, testkit.Unprocessed(5))
	got, err := r.reader.Read(t.Context(), keys)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// unread is the reading where health cannot be read.
func unread(want readings) readings {
	for key, reading := range want {
		reading.HealthRead = false
		reading.View.Endpoint, reading.View.Tenant = health.Item{}, health.Item{}
		want[key] = reading
	}
	return want
}

func TestReader_Read_tellsUnreadHealthFromNone(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 4)
	r.faults.Add(testkit.Rule{
		Action: "BatchGetItem",
		When:   func(c testkit.Call) bool { return strings.Contains(string(c.Body), r.tables.EndpointHealth) },
		Fault:  testkit.Fail(400, "AccessDeniedException"),
	})
	got, err := r.reader.Read(t.Context(), keys)
	if diff := cmp.Diff(unread(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	r.faults.Clear()
	r.faults.On("BatchGetItem", 0, testkit.Fail(400, "AccessDeniedException"))
	if got, err := r.reader.Read(t.Context(), keys); err == nil {
		t.Errorf("endpoints that could not be read are %v", got)
	}
}

func TestReader_Read_waitsForEndpointsAndNotForHealth(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 4)
	r.faults.On("BatchGetItem", 0, testkit.Unprocessed(0))
	if _, err := r.reader.Read(t.Context(), keys); !errors.Is(err, dynamo.ErrUnprocessed) {
		t.Errorf("throttled endpoints: %v", err)
	}
	r.faults.Clear()
	r.faults.Add(testkit.Rule{
		Action: "BatchGetItem",
		When:   func(c testkit.Call) bool { return strings.Contains(string(c.Body), r.tables.EndpointHealth) },
		Fault:  testkit.Unprocessed(0),
	})
	got, err := r.reader.Read(t.Context(), keys)
	if diff := cmp.Diff(unread(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestReader_Read_withoutSecretsReadsNone(t *testing.T) {
	r := newReader(t)
	keys, want := r.trouble(t, 1)
	reader := dynamo.NewReader(dynamo.ReaderConfig{
		Client: dynamodb.NewFromConfig(r.faults.Config()), WithoutSecrets: true,
		Endpoints: r.tables.Endpoints, EndpointHealth: r.tables.EndpointHealth,
	})
	e := want[keys[0]].Endpoint
	public := want[keys[0]]
	public.Endpoint = endpoint.Endpoint{
		ID: e.ID, TenantID: e.TenantID, Status: e.Status,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, DeletedAt: e.DeletedAt, SecretRotatedAt: e.SecretRotatedAt,
	}
	want[keys[0]] = public
	got, err := reader.Read(t.Context(), keys)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
