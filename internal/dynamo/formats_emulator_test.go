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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var writeFormats = flag.Bool("update", false, "write the formats that are not in testdata/formats yet")

// stores are the tables of one test.
type stores struct {
	t         *testing.T
	client    *dynamodb.Client
	tables    testkit.TableNames
	endpoints *dynamo.Endpoints
	circuits  *dynamo.Circuits
	backlog   *dynamo.Backlog
	letters   *dynamo.DeadLetters
}

func newStores(t *testing.T) stores {
	t.Helper()
	cfg := testkit.Moto(t)
	client, tables := dynamodb.NewFromConfig(cfg), testkit.Tables(t, cfg)
	return stores{
		t: t, client: client, tables: tables,
		endpoints: dynamo.NewEndpoints(client, tables.Endpoints).KeepDeleted(30 * 24 * time.Hour),
		circuits:  dynamo.NewCircuits(client, tables.EndpointHealth),
		backlog:   dynamo.NewBacklog(client, tables.Backlog),
		letters:   dynamo.NewDeadLetters(client, tables.DeadLetters).KeepDead(90 * 24 * time.Hour),
	}
}

// format is a kind of stored item: how one is written, and the meaning of the one in the corpus.
type format struct {
	table func(testkit.TableNames) string
	key   map[string]string
	write func(s stores)
	read  func(s stores) any
	want  any
}

func ofEndpoints(n testkit.TableNames) string { return n.Endpoints }
func ofHealth(n testkit.TableNames) string    { return n.EndpointHealth }
func ofBacklog(n testkit.TableNames) string   { return n.Backlog }
func ofLetters(n testkit.TableNames) string   { return n.DeadLetters }

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
		SecretVersion: 2, SealedSecret: []byte("sealed"), Revision: "revision",
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

// wantLetter died in its third life for the first time. Its seals have a corpus of their own.
var wantLetter = deadletter.Record{
	Ref: wantWaiting.Message.Ref, EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonHTTP5xx,
	Attempts: 10, LastStatus: 503, ReplayCount: 2, DiedAt: at.Add(time.Hour), UpdatedAt: at.Add(time.Hour),
	Sealed: deadletter.Sealed{
		Body: []byte("sealed body"), Attributes: []byte("sealed attributes"),
		History: []deadletter.SealedEntry{{Replay: 2, Reason: delivery.ReasonHTTP5xx, Sealed: []byte("sealed entry")}},
	},
}

func deletedEndpoint() endpoint.Endpoint {
	e := wantEndpoint
	e.Status, e.DeletedAt = endpoint.Deleted, at.Add(2*time.Hour)
	return e
}

func formats() map[string]format {
	endpointKey := dynamo.EndpointKey{TenantID: "acme", EndpointID: endpointID}
	readEndpoint := func(s stores) any { return getEndpoint(s.t, s.endpoints, endpointID) }
	create := func(s stores, e endpoint.Endpoint) {
		if err := s.endpoints.Create(s.t.Context(), e, nil); err != nil {
			s.t.Fatal(err)
		}
	}
	return map[string]format{
		"endpoint-live": {
			ofEndpoints, map[string]string{"tenant_id": "acme", "endpoint_id": endpointID},
			func(s stores) { create(s, wantEndpoint) }, readEndpoint, wantEndpoint,
		},
		"endpoint-deleted": {
			ofEndpoints, map[string]string{"tenant_id": "acme", "endpoint_id": "deleted#" + endpointID},
			func(s stores) {
				create(s, wantEndpoint)
				mustReplace(s.t, s.endpoints, wantEndpoint, deletedEndpoint())
			},
			readEndpoint, deletedEndpoint(),
		},
		"endpoint-marks": {
			ofEndpoints, map[string]string{"tenant_id": "marks#acme", "endpoint_id": "#marks"},
			func(s stores) {
				create(s, wantEndpoint)
				mark(s.t, s.endpoints, endpointKey)
				mark(s.t, s.endpoints, dynamo.EndpointKey{TenantID: "acme"})
			},
			func(s stores) any { return marksOf(s.t, s.endpoints) }, wantMarks,
		},
		"endpoint-counts": { // at the limit
			ofEndpoints, map[string]string{"tenant_id": "acme", "endpoint_id": "#counts"},
			func(s stores) {
				for range endpoint.MaxLive {
					mustCreate(s.t, s.endpoints, "acme", createdAt)
				}
			},
			func(s stores) any {
				return errors.Is(s.endpoints.Create(s.t.Context(), wantEndpoint, nil), dynamo.ErrLimit)
			}, true,
		},
		"circuit": {
			ofHealth, map[string]string{"scope": "endpoint#" + endpointID, "name": "health"},
			func(s stores) {
				mustStore(s.t, s.circuits, circuit.Item{}, wantCircuit)
				if _, err := s.circuits.Hold(s.t.Context(), endpointKey, wantCircuit.HeldUntil, at); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s stores) any { return getCircuit(s.t, s.circuits, endpointID) }, wantCircuit,
		},
		"circuit-notices": {
			ofHealth, map[string]string{"scope": "endpoint#" + endpointID, "name": "health"},
			func(s stores) {
				mustStore(s.t, s.circuits, circuit.Item{}, wantNotices)
				if _, err := s.circuits.Hold(s.t.Context(), endpointKey, wantNotices.HeldUntil, at); err != nil {
					s.t.Fatal(err)
				}
			},
			func(s stores) any { return getCircuit(s.t, s.circuits, endpointID) }, wantNotices,
		},
		"tenant": {
			ofHealth, map[string]string{"scope": "tenant#acme", "name": "health"},
			func(s stores) { charge(s.t, s.circuits, "acme", time.Hour) },
			func(s stores) any { return slowUntil(s.t, s.circuits, "acme") }, at.Add(time.Hour),
		},
		"dead-letter": {
			ofLetters, map[string]string{"delivery_id": wantLetter.DeliveryID},
			func(s stores) { bury(s.t, s.letters, wantLetter) },
			func(s stores) any { return getLetter(s.t, s.letters, wantLetter.DeliveryID) }, wantLetter,
		},
		"backlog": {
			ofBacklog, map[string]string{"endpoint_shard": shardID, "position": positionID},
			func(s stores) {
				if errs := s.backlog.Put(s.t.Context(), []backlog.Item{wantWaiting}); errs[0] != nil {
					s.t.Fatal(errs[0])
				}
			},
			func(s stores) any {
				page, err := s.backlog.BatchGet(s.t.Context(), []backlog.Key{wantWaiting.Key})
				if err != nil || len(page.Items) != 1 {
					s.t.Fatal(page, err)
				}
				return page.Items[0]
			}, wantWaiting,
		},
	}
}

// Every stored format, as it was first written, is read by every later version. Nothing rewrites a file
// of the corpus: a new format gets a new one.
func TestFormats_areReadForEver(t *testing.T) {
	for name, f := range formats() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "formats", name+".json")
			if _, err := os.Stat(path); *writeFormats && errors.Is(err, fs.ErrNotExist) {
				writeFormat(t, path, f)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			item, err := attributevalue.UnmarshalMapJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			s := newStores(t)
			table := f.table(s.tables)
			if _, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f.want, f.read(s)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Today's version writes the corpus.
func TestFormats_areWritten(t *testing.T) {
	for name, f := range formats() {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", "formats", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if got := encodeFormat(t, f); !bytes.Equal(want, got) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(string(want), string(got)))
			}
		})
	}
}

func writeFormat(t *testing.T, path string, f format) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, encodeFormat(t, f), 0o600); err != nil {
		t.Fatal(err)
	}
}

// encodeFormat is the item that the stores write, as DynamoDB's own JSON.
func encodeFormat(t *testing.T, f format) []byte {
	t.Helper()
	s := newStores(t)
	f.write(s)
	table, key := f.table(s.tables), map[string]types.AttributeValue{}
	for name, value := range f.key {
		key[name] = text(value)
	}
	out, err := s.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil || len(out.Item) == 0 {
		t.Fatal(out, err)
	}
	if f.key["endpoint_id"] == "#marks" {
		out.Item["revision"] = text("revision") // is random
	}
	encoded, err := attributevalue.MarshalMapJSON(out.Item)
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
