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
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/rules/token"
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
		"endpoint-whole": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", endpointID),
			func(s rig) { create(s, wholeEndpoint()) }, readEndpoint, wholeEndpoint(),
		},
		"endpoint-oauth2": {
			ofEndpoints, keyOf("tenant_id", "acme", "endpoint_id", endpointID),
			func(s rig) { create(s, tokenEndpoint()) }, readEndpoint, tokenEndpoint(),
		},
		"endpoint-marks-sited": {
			ofEndpoints, keyOf("tenant_id", "marks#acme", "endpoint_id", "#marks"),
			func(s rig) {
				create(s, wantEndpoint)
				for key, marks := range map[dynamo.EndpointKey]endpoint.Marks{
					endpointKey: sitedMarks.Endpoints[endpointID], {TenantID: "acme"}: sitedMarks.Tenant,
				} {
					set := func(m *endpoint.Marks) bool { *m = marks; return true }
					if changed, _, err := s.endpoints.Mark(s.t.Context(), key, set); err != nil || !changed {
						s.t.Fatal(changed, err)
					}
				}
			},
			func(s rig) any { return marksOf(s.t, s.endpoints) }, sitedMarks,
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
		"token": {
			ofHealth, keyOf("scope", "rate#"+endpointID, "name", "token"),
			func(s rig) {
				store := dynamo.NewTokens(s.faulty, s.tables.EndpointHealth)
				if _, claimed, err := store.Claim(s.t.Context(), endpointKey, wantToken, at); err != nil || !claimed {
					s.t.Fatal(claimed, err)
				}
			},
			func(s rig) any {
				other := token.Kept{Of: wantToken.Of, Claim: "other"}
				store := dynamo.NewTokens(s.faulty, s.tables.EndpointHealth)
				stored, _, err := store.Claim(s.t.Context(), endpointKey, other, at)
				if err != nil {
					s.t.Fatal(err)
				}
				return stored
			}, wantToken,
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
		"circuit": health(wantCircuit), "circuit-notices": health(wantNotices), "circuit-waits": health(wantRetry),
		"dead-letter": letter(wantLetter, func(rig) {}),
		"dead-letter-claimed": letter(wantClaimed, func(s rig) {
			_, _, ok, err := s.letters.Claim(
				s.t.Context(), getLetter(s.t, s.letters, wantLetter.DeliveryID), "ann", wantJob.ID, wantClaimed.UpdatedAt)
			if err != nil || !ok {
				s.t.Fatal(ok, err)
			}
		}),
		"api-key": key(wantKey), "api-key-spent": key(wantSpent), "job": stored(wantJob), "job-listed": stored(wantListed),
		"job-narrowed": stored(wantNarrowed),
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
	for _, random := range []string{"revision", "claim"} {
		if _, is := written[random]; is {
			written[random] = text(random)
		}
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
