//go:build emulator

package dynamo_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var writeFormats = flag.Bool("update", false, "write the formats that are not in testdata/formats yet")

// format is a kind of stored item: how one is written, and the meaning of the one in the corpus.
type format struct {
	table func(testkit.TableNames) string
	key   item
	write func(s rig)
	read  func(s rig) any
	want  any
}

func ofEndpoints(n testkit.TableNames) string  { return n.Endpoints }
func ofHealth(n testkit.TableNames) string     { return n.EndpointHealth }
func ofBacklog(n testkit.TableNames) string    { return n.Backlog }
func ofDeliveries(n testkit.TableNames) string { return n.Deliveries }
func ofKeys(n testkit.TableNames) string       { return n.ApiKeys }
func ofJobs(n testkit.TableNames) string       { return n.Jobs }
func ofLetters(n testkit.TableNames) string    { return n.DeadLetters }

const (
	endpointID = "webhook_01KEXAMPLE0000000000000000"
	shardID    = endpointID + "#4"
	positionID = "2026-02-03T04:05:06.789Z#msg_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#2#random23"
)

// The meaning of the corpus. These values never change: a later version adds formats, and reads these.
var (
	wantEndpoint = endpoint.Endpoint{
		ID: endpointID, TenantID: "acme", URL: "https://example.com/hooks", Description: "ä",
		Events: []string{"user.*", "organization.created"}, Status: endpoint.Disabled,
		CreatedAt: at, UpdatedAt: at.Add(time.Hour), SecretRotatedAt: at.Add(time.Minute),
		SecretVersion: 2, SealedSecret: []byte("sealed"), RateLimit: 10, Revision: "revision",
	}
	wantMarks   = endpoint.TenantMarks{Tenant: allMarks, Endpoints: map[string]endpoint.Marks{endpointID: allMarks}}
	wantCircuit = circuit.Item{
		TenantID: "acme", EndpointID: endpointID, Version: 1_770_091_506_789_000_001,
		State: circuit.Recovering, Since: at, HeldUntil: at.Add(time.Hour),
		Failures: 4, FailingSince: at.Add(1 * time.Second), OutageSince: at.Add(2 * time.Second),
		Deliveries: []string{"msg_2", "msg_1"},
		Last:       circuit.Answer{At: at.Add(3 * time.Second), Status: 503, Reason: "http_5xx"},
		Probes:     5, ProbedAt: at.Add(4 * time.Second), RecoveredAt: at.Add(5 * time.Second),
		Pace:   circuit.Pace{Quota: 960, Oldest: at.Add(6 * time.Second)},
		Recent: circuit.Recent{Start: at.Add(7 * time.Second), Tried: 9, OK: 8, TriedWas: 7, OKWas: 6},
	}
	wantNotices = func() circuit.Item {
		i := wantCircuit
		i.Outage = circuit.Spell{At: at, Reason: "http_5xx", Status: 503, Told: true, EndedAt: at.Add(time.Hour)}
		i.Pause = circuit.Spell{At: at.Add(time.Minute), Told: true}
		i.Death = circuit.Spell{At: at.Add(2 * time.Minute), Reason: "timeout"}
		return i
	}()
	wantWaiting = backlog.Item{
		Key: backlog.Key{EndpointID: endpointID, Shard: 4, Position: positionID},
		Message: delivery.Message{
			Ref: delivery.Ref{
				DeliveryID: "msg_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TenantID: "acme", EndpointID: endpointID,
				EventID: "event_1", OccurredAt: at.Add(-time.Minute), CreatedAt: at, Replay: 2,
			},
			Attempts: 4,
			Life: delivery.Life{
				StartedAt: at, DueAt: at.Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503,
			},
			Body: []byte("{\"type\":\"user.created\",\"data\":\"\xff\"}"),
		},
		StoredAt: at.Add(time.Second), DueAt: at.Add(168 * time.Hour), Held: true, NotBefore: at.Add(time.Minute),
	}
)

// wantTraced has a trace, in the form of X-Ray.
var wantTraced = func() backlog.Item {
	i := wantWaiting
	i.Message.Trace = trace.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	return i
}()

// wantLetter died in its third life for the first time. Its seals have a corpus of their own.
var wantLetter = deadletter.Record{
	Ref: wantWaiting.Message.Ref, EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonHTTP5xx,
	Attempts: 10, LastStatus: 503, ReplayCount: 2, DiedAt: at.Add(time.Hour), UpdatedAt: at.Add(time.Hour),
	Sealed: deadletter.Sealed{
		Body: []byte("sealed body"), Attributes: []byte("sealed attributes"),
		History: []deadletter.SealedEntry{{Replay: 2, Reason: delivery.ReasonHTTP5xx, Sealed: []byte("sealed entry")}},
	},
}

var (
	wantRecord = delivery.Record{
		Ref: wantWaiting.Message.Ref, EventType: "user.created", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		State: delivery.Retrying, Attempts: 4, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 150,
		NextAttemptAt: at.Add(time.Hour), UpdatedAt: at.Add(time.Minute),
	}
	wantKey = apikey.Key{
		ID: "01KEXAMPLE0000000000000000", TenantID: "acme", Scopes: []apikey.Scope{"webhooks:read"}, Description: "ä",
		Hash: []byte("hash"), CreatedAt: at, RevokedAt: at.Add(time.Hour), LastUsedAt: at.Add(time.Minute),
	}
	wantJob = job.Job{
		ID: "job_aaaaaaaaaaaaaaaaaaaaaaaaaa", Act: job.Replay, Asked: at.Add(time.Second), Operator: "ann", StartedAt: at,
		RunsFrom: at.Add(2 * time.Second), Selected: 7, State: job.Running, StoppedBy: "ben",
		Selector: job.Selector{
			TenantID: "acme", EndpointID: endpointID, Reason: "timeout", Status: "dead", Since: at.Add(-time.Hour), Until: at,
		},
		Progress: job.Progress{
			Done: 3, Refused: map[string]int{"purged": 1}, Failed: map[string]int{"internal": 2}, Pages: 3,
			Pending: []string{"msg_1"}, Tries: 1, Cursor: "cursor", UpdatedAt: at.Add(time.Minute),
			HiddenSince: at.Add(3 * time.Second), HiddenUntil: at.Add(4 * time.Second),
		},
	}
	wantPage = job.Page{
		Number: 3, Done: []string{"msg_1"}, Failures: []job.Failure{{ID: "msg_2", Refused: true, Reason: "purged"}},
	}
)

func deletedEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.Status, e.DeletedAt = endpoint.Deleted, at.Add(2*time.Hour)
	return e
}

func toldEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.AboutRow = endpoint.AboutKept
	e.About = endpoint.About{Contact: "ann@example.com", Metadata: map[string]string{"crm": "7"}}
	return e
}

func formats() map[string]format {
	readAbout := func(s rig) any {
		all, err := s.endpoints.About(s.t.Context(), wantEndpoint)
		if err != nil {
			s.t.Fatal(err)
		}
		return all[0].About
	}
	endpointKey := dynamo.EndpointKey{TenantID: "acme", EndpointID: endpointID}
	readEndpoint := func(s rig) any { return getEndpoint(s.t, s.endpoints, endpointID) }
	create := func(s rig, e endpoint.Endpoint) {
		if err := s.endpoints.Create(s.t.Context(), e, nil); err != nil {
			s.t.Fatal(err)
		}
	}
	return map[string]format{
		"endpoint-live": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", endpointID),
			func(s rig) { create(s, wantEndpoint) }, readEndpoint, wantEndpoint,
		},
		"endpoint-deleted": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", "deleted#"+endpointID),
			func(s rig) {
				create(s, wantEndpoint)
				mustReplace(s.t, s.endpoints, wantEndpoint, deletedEndpoint())
			},
			readEndpoint, deletedEndpoint(),
		},
		"endpoint-about": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", "#about#"+endpointID),
			func(s rig) { create(s, toldEndpoint()) }, readAbout, toldEndpoint().About,
		},
		"endpoint-about-deleted": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", "#about#"+endpointID),
			func(s rig) {
				create(s, toldEndpoint())
				mustReplace(s.t, s.endpoints, toldEndpoint(), gone(toldEndpoint(), at.Add(2*time.Hour)))
			},
			readAbout, toldEndpoint().About,
		},
		"endpoint-told": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", endpointID),
			func(s rig) { create(s, toldEndpoint()) },
			func(s rig) any { return getEndpoint(s.t, s.endpoints, endpointID).AboutRow }, endpoint.AboutKept,
		},
		"endpoint-marks": {
			ofEndpoints, keyOf("tenant_id", "marks#acme", "endpoint_id", "#marks"),
			func(s rig) {
				create(s, wantEndpoint)
				mark(s.t, s.endpoints, endpointKey)
				mark(s.t, s.endpoints, dynamo.EndpointKey{TenantID: "acme"})
			},
			func(s rig) any { return marksOf(s.t, s.endpoints) }, wantMarks,
		},
		"endpoint-counts": { // at the limit
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", "#counts"),
			func(s rig) {
				for range endpoint.MaxLive {
					mustCreate(s.t, s.endpoints, "acme", createdAt)
				}
			},
			func(s rig) any {
				return errors.Is(s.endpoints.Create(s.t.Context(), wantEndpoint, nil), dynamo.ErrLimit)
			}, true,
		},
		"circuit": {
			ofHealth, keyOf("scope", "endpoint#"+endpointID, "name", "health"),
			func(s rig) {
				mustStore(s.t, s.circuits, circuit.Item{}, wantCircuit)
				if err := s.circuits.Hold(s.t.Context(), endpointKey, wantCircuit.HeldUntil, at); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s rig) any { return getCircuit(s.t, s.circuits, endpointID) }, wantCircuit,
		},
		"circuit-notices": {
			ofHealth, keyOf("scope", "endpoint#"+endpointID, "name", "health"),
			func(s rig) {
				mustStore(s.t, s.circuits, circuit.Item{}, wantNotices)
				if err := s.circuits.Hold(s.t.Context(), endpointKey, wantNotices.HeldUntil, at); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s rig) any { return getCircuit(s.t, s.circuits, endpointID) }, wantNotices,
		},
		"tenant": {
			ofHealth, keyOf("scope", "tenant#acme", "name", "health"),
			func(s rig) { charge(s.t, s.circuits, "acme", time.Hour) },
			func(s rig) any { return slowUntil(s.t, s.circuits, "acme") }, at.Add(time.Hour),
		},
		"delivery": { // open
			ofDeliveries, keyOf("delivery_id", wantRecord.DeliveryID),
			func(s rig) { update(s.t, s.deliveries, wantRecord) },
			func(s rig) any {
				return got[delivery.Record](s.t)(s.deliveries.Get(s.t.Context(), wantRecord.DeliveryID))
			},
			wantRecord,
		},
		"dead-letter": {
			ofLetters, keyOf("delivery_id", wantLetter.DeliveryID),
			func(s rig) { bury(s.t, s.letters, wantLetter) },
			func(s rig) any { return getLetter(s.t, s.letters, wantLetter.DeliveryID) }, wantLetter,
		},
		"api-key": {
			ofKeys, keyOf("key_id", wantKey.ID),
			func(s rig) {
				if err := s.keys.Put(s.t.Context(), wantKey); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s rig) any { return got[apikey.Key](s.t)(s.keys.Get(s.t.Context(), wantKey.ID)) }, wantKey,
		},
		"job": {
			ofJobs, keyOf("job_id", wantJob.ID, "part", "job"),
			func(s rig) { startJob(s, wantJob) },
			func(s rig) any { return got[job.Job](s.t)(s.jobs.Get(s.t.Context(), wantJob.ID)) }, wantJob,
		},
		"job-page": {
			ofJobs, keyOf("job_id", wantJob.ID, "part", "page#00000003"),
			func(s rig) {
				if err := s.jobs.PutPage(s.t.Context(), wantJob, wantPage); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s rig) any {
				pages, _, err := s.jobs.Pages(s.t.Context(), wantJob.ID, 0, 10)
				if err != nil || len(pages) != 1 {
					s.t.Fatal(pages, err)
				}
				return pages[0]
			}, wantPage,
		},
		"backlog": waits(wantWaiting), "backlog-traced": waits(wantTraced),
	}
}

// got is what a store found.
func got[T any](t *testing.T) func(v T, found bool, err error) any {
	t.Helper()
	return func(v T, found bool, err error) any {
		t.Helper()
		if err != nil || !found {
			t.Fatalf("found: %v, %v", found, err)
		}
		return v
	}
}

func startJob(s rig, j job.Job) {
	s.t.Helper()
	if _, created, err := s.jobs.Create(s.t.Context(), j); err != nil || !created {
		s.t.Fatalf("created: %v, %v", created, err)
	}
}

// A newer version's selection may have parts that this one does not know. It tells of them, and leaves them where they
// are.
func TestJobs_nameTheUnknownPartsOfASelection(t *testing.T) {
	s := newRig(t)
	startJob(s, wantJob)
	key := keyOf("job_id", wantJob.ID, "part", "job")
	stored := s.stored(s.tables.Jobs, key)
	selector := stored["selector"].(*types.AttributeValueMemberM)
	selector.Value["tenant_prefix"], selector.Value["age"] = text("acme"), text("1h")
	s.put(s.tables.Jobs, stored)
	want := wantJob
	want.Unknown = []string{"age", "tenant_prefix"}
	if diff := cmp.Diff(any(want), got[job.Job](t)(s.jobs.Get(t.Context(), want.ID))); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
	leased, ok, err := s.jobs.Lease(t.Context(), want.ID, "worker", at, at.Add(time.Minute))
	if diff := cmp.Diff(want, leased); err != nil || !ok || diff != "" {
		t.Errorf("leased: %v, %v (-want +got)\n%s", ok, err, diff)
	}
	if _, _, err := s.jobs.Advance(t.Context(), leased, "worker"); err != nil {
		t.Fatal(err)
	}
	kept, _ := s.stored(s.tables.Jobs, key)["selector"].(*types.AttributeValueMemberM)
	if kept == nil || len(kept.Value) != len(selector.Value) {
		t.Errorf("the selection is %v", kept)
	}
}

// waits is the format of an item of Backlog.
func waits(want backlog.Item) format {
	return format{
		ofBacklog, keyOf("endpoint_shard", shardID, "position", positionID),
		func(s rig) {
			if errs := s.backlog.Put(s.t.Context(), []backlog.Item{want}); errs[0] != nil {
				s.t.Fatal(errs[0])
			}
		},
		func(s rig) any {
			page, err := s.backlog.BatchGet(s.t.Context(), []backlog.Key{want.Key})
			if err != nil || len(page.Items) != 1 {
				s.t.Fatal(page, err)
			}
			return page.Items[0]
		}, want,
	}
}

// Today's version writes the corpus, and every later one reads it. Nothing rewrites a file: a new format gets its
// own file.
func TestFormats_areWrittenAndReadForEver(t *testing.T) {
	for name, f := range formats() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "formats", name+".json")
			got := encodeFormat(t, f)
			if _, err := os.Stat(path); *writeFormats && errors.Is(err, fs.ErrNotExist) {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			corpus, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(corpus, got) {
				t.Fatalf("written: %v (-want +got)\n%s", err, cmp.Diff(string(corpus), string(got)))
			}
			item, err := attributevalue.UnmarshalMapJSON(corpus)
			if err != nil {
				t.Fatal(err)
			}
			s := newRig(t)
			s.put(f.table(s.tables), item)
			if diff := cmp.Diff(f.want, f.read(s)); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
		})
	}
}

// encodeFormat is the item that the stores write, as DynamoDB's own JSON.
func encodeFormat(t *testing.T, f format) []byte {
	t.Helper()
	s := newRig(t)
	f.write(s)
	written := s.stored(f.table(s.tables), f.key)
	if cmp.Equal(f.want, any(wantMarks)) {
		written["revision"] = text("revision") // is random
	}
	encoded, err := attributevalue.MarshalMapJSON(written)
	if err != nil {
		t.Fatal(err)
	}
	value := jsontext.Value(encoded)
	if err := value.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	return append(value, '\n')
}
