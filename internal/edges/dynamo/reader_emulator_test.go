//go:build emulator

package dynamo_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

type readings = map[dynamo.EndpointKey]dynamo.Reading

// reader reads with the options.
func (r rig) reader(config dynamo.ReaderConfig) *dynamo.Reader {
	config.Client = r.faulty
	config.Endpoints, config.EndpointHealth = r.tables.Endpoints, r.tables.EndpointHealth
	return dynamo.NewReader(config)
}

// trouble makes n tenants of one endpoint each: in trouble and marked, and its tenant slow and marked,
// where n is odd.
func (r rig) trouble(t *testing.T, n int) (keys []dynamo.EndpointKey, want readings) {
	t.Helper()
	want = readings{}
	for n := range n {
		tenant := fmt.Sprint("t_", n)
		e := mustCreate(t, r.endpoints, tenant, createdAt)
		key := dynamo.EndpointKey{TenantID: tenant, EndpointID: e.ID}
		reading := dynamo.Reading{CircuitRead: true, Gate: endpoint.Gate{
			Endpoint: e, Found: true, Circuit: circuit.Item{TenantID: tenant, EndpointID: e.ID},
		}}
		if n%2 == 1 {
			reading.Circuit = full(e.ID, 7)
			reading.Circuit.TenantID = tenant
			mustStore(t, r.circuits, circuit.Item{}, reading.Circuit)
			reading.SlowUntil = charge(t, r.circuits, tenant, time.Hour)
			mark(t, r.endpoints, key)
			mark(t, r.endpoints, dynamo.EndpointKey{TenantID: tenant})
			reading.Endpoint.Marks, reading.Tenant = allMarks, allMarks
		}
		keys, want[key] = append(keys, key), reading
	}
	return keys, want
}

func (r rig) check(t *testing.T, config dynamo.ReaderConfig, keys []dynamo.EndpointKey, want readings) {
	t.Helper()
	got, err := r.reader(config).Read(t.Context(), keys, nil)
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestReader_Read_readsAHundredKeysOfATableInACall(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 2)
	unknown := func(tenant string) {
		key := dynamo.EndpointKey{TenantID: tenant, EndpointID: "webhook_x"}
		of := want[keys[1]]
		if tenant != keys[1].TenantID {
			of = dynamo.Reading{}
		}
		keys, want[key] = append(keys, key), dynamo.Reading{
			SlowUntil: of.SlowUntil, CircuitRead: true, Gate: endpoint.Gate{
				Tenant: of.Tenant, Circuit: circuit.Item{TenantID: tenant, EndpointID: "webhook_x"},
			},
		}
	}
	for n := range 48 {
		unknown(fmt.Sprint("unknown_", n))
	}
	keys = append(keys, keys[0])        // asked for once
	for _, calls := range []int{2, 3} { // webhook_x is named by many tenants, and has one circuit
		r.faults.Reset()
		r.check(t, dynamo.ReaderConfig{}, keys, want)
		if n := len(r.faults.Calls("BatchGetItem")); n != calls {
			t.Errorf("%d calls for %d endpoints, want %d", n, len(want), calls)
		}
		unknown(keys[1].TenantID)
	}
	r.faults.Reset()
	r.check(t, dynamo.ReaderConfig{}, nil, readings{})
	if n := len(r.faults.Calls("")); n != 0 {
		t.Errorf("%d calls for nothing", n)
	}
}

func TestReader_Read_mayReadCircuitsBehindAndNothingElse(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 2)
	for _, eventual := range []bool{false, true} {
		r.faults.Reset()
		r.check(t, dynamo.ReaderConfig{EventualCircuits: eventual}, keys, want)
		got := map[string]bool{}
		for _, c := range r.faults.Calls("BatchGetItem") {
			var call struct {
				RequestItems map[string]struct{ ConsistentRead bool }
			}
			if err := json.Unmarshal(c.Body, &call); err != nil {
				t.Fatal(err)
			}
			for table, ask := range call.RequestItems {
				got[table] = ask.ConsistentRead
			}
		}
		wanted := map[string]bool{r.tables.Endpoints: true, r.tables.EndpointHealth: !eventual}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("strongly consistent (-want +got)\n%s", diff)
		}
	}
}

func TestReader_Read_leavesOutTheCircuitsOfQuietEndpoints(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 2)
	reader := r.reader(dynamo.ReaderConfig{})
	for _, quiet := range []map[dynamo.EndpointKey]bool{{keys[0]: true}, {keys[0]: true, keys[1]: true}} {
		for key := range quiet {
			reading := want[key]
			reading.CircuitRead, reading.SlowUntil = false, time.Time{}
			reading.Circuit = circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}
			want[key] = reading
		}
		r.faults.Reset()
		got, err := reader.Read(t.Context(), keys, quiet)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(r.faults.Calls("BatchGetItem")) != 1 {
			t.Errorf("%v after %d calls (-want +got)\n%s", err, len(r.faults.Calls("BatchGetItem")), diff)
		}
	}
}

// circuitsMeet has a fault happen to calls that ask for circuits.
func (r rig) circuitsMeet(fault testkit.Fault) {
	r.faults.Clear()
	r.faults.Add(testkit.Rule{
		Action: "BatchGetItem",
		When:   func(c testkit.Call) bool { return strings.Contains(string(c.Body), r.tables.EndpointHealth) },
		Fault:  fault,
	})
}

func TestReader_Read_doesWithoutCircuitsAndNotWithoutEndpoints(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 4)
	for key, reading := range want {
		reading.CircuitRead, reading.SlowUntil = false, time.Time{}
		reading.Circuit = circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}
		want[key] = reading
	}
	for name, fault := range map[string]testkit.Fault{
		"refused": testkit.Fail(400, "AccessDeniedException"), "throttled": testkit.Unprocessed(0),
	} {
		t.Run(name, func(t *testing.T) {
			r.circuitsMeet(fault)
			r.check(t, dynamo.ReaderConfig{}, keys, want)
			r.faults.Clear()
			r.faults.On("BatchGetItem", 0, fault)
			got, err := r.reader(dynamo.ReaderConfig{}).Read(t.Context(), keys, nil)
			if err == nil || name == "throttled" && !errors.Is(err, dynamo.ErrUnprocessed) {
				t.Errorf("endpoints that could not be read are %v, %v", got, err)
			}
		})
	}
}

// A call for some circuits that is refused leaves the others known.
func TestReader_Read_readsTheCircuitsBehindARefusedCall(t *testing.T) {
	r := newRig(t)
	var keys []dynamo.EndpointKey
	want := readings{}
	for n := range 75 { // 150 circuit keys, an endpoint's and a tenant's in turn
		key := dynamo.EndpointKey{TenantID: fmt.Sprint("t_", n), EndpointID: fmt.Sprint("webhook_", n)}
		keys, want[key] = append(keys, key), dynamo.Reading{
			CircuitRead: n >= 50,
			Gate:        endpoint.Gate{Circuit: circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}},
		}
	}
	for _, fault := range []testkit.Fault{testkit.Fail(400, "AccessDeniedException"), testkit.Unprocessed(0)} {
		r.faults.Clear()
		r.faults.Add(testkit.Rule{
			When:  func(c testkit.Call) bool { return strings.Contains(string(c.Body), `"endpoint#webhook_0"`) },
			Fault: fault,
		})
		r.check(t, dynamo.ReaderConfig{}, keys, want)
	}
}

// Rows that stay unprocessed are the fault of their own endpoints, and of no others. Of each endpoint the marks are
// asked for first.
func TestReader_Read_doesWithoutRowsThatAreThrottled(t *testing.T) {
	r := newRig(t)
	keys, all := r.trouble(t, 2)
	keys = append(keys, dynamo.EndpointKey{TenantID: "unknown", EndpointID: "webhook_x"})
	quiet := map[dynamo.EndpointKey]bool{}
	for _, key := range keys {
		reading := all[key]
		reading.CircuitRead, reading.SlowUntil = false, time.Time{}
		reading.Circuit = circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}
		all[key], quiet[key] = reading, true
	}
	for name, row := range map[string]struct{ done, after, read int }{
		"all but the first's marks":  {1, 0, 0},
		"all but the first endpoint": {2, 0, 1},
		"the last's row":             {5, 0, 2},
		"where it would be, deleted": {0, 1, 2},
		"nothing":                    {6, 0, 3},
	} {
		r.faults.Clear()
		r.faults.Add(testkit.Rule{Action: "BatchGetItem", After: row.after, Times: 1, Fault: testkit.Unprocessed(row.done)})
		r.faults.Add(testkit.Rule{Action: "BatchGetItem", After: row.after, Fault: testkit.Unprocessed(0)})
		if name == "nothing" {
			r.faults.Clear()
		}
		want := maps.Clone(all)
		for _, key := range keys[row.read:] {
			want[key] = dynamo.Reading{Err: dynamo.ErrUnprocessed}
		}
		got, err := r.reader(dynamo.ReaderConfig{Deleted: true}).Read(t.Context(), keys, quiet)
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// A panic in either of the reads that run side by side is an internal error, and not the end of the process.
func TestReader_Read_survivesAPanic(t *testing.T) {
	r := newRig(t)
	keys := []dynamo.EndpointKey{{TenantID: "t_1", EndpointID: "webhook_1"}}
	for _, table := range []string{r.tables.Endpoints, r.tables.EndpointHealth} {
		r.faults.Clear()
		r.faults.Add(testkit.Rule{When: func(c testkit.Call) bool {
			if strings.Contains(string(c.Body), table) {
				panic("boom")
			}
			return false
		}})
		_, err := r.reader(dynamo.ReaderConfig{Fields: dynamo.Deciding}).Read(t.Context(), keys, nil)
		var panicked *parallel.Panic
		if !errors.As(err, &panicked) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

func TestReader_Read_withoutSecretsReadsNone(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 2)
	for key, reading := range want {
		e := &reading.Endpoint
		e.URL, e.Description, e.SealedSecret, e.SecretVersion, e.Revision = "", "", nil, 0, ""
		want[key] = reading
	}
	r.check(t, dynamo.ReaderConfig{Fields: dynamo.Deciding}, keys, want)
}

func TestReader_Read_showsOperatorsDeletedEndpointsAndNothingSealed(t *testing.T) {
	r := newRig(t)
	keys, want := r.trouble(t, 2)
	first := want[keys[0]]
	first.Endpoint = mustReplace(t, r.endpoints, first.Endpoint, gone(first.Endpoint, createdAt.Add(time.Minute)))
	want[keys[0]] = first
	for key, reading := range want {
		e := &reading.Endpoint
		e.SealedSecret, e.SecretVersion, e.Revision = nil, 0, ""
		want[key] = reading
	}
	r.check(t, dynamo.ReaderConfig{Fields: dynamo.Named, Deleted: true}, keys, want)
}
