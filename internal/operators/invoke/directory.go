package invoke

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Directory finds endpoints for operators, with all that stands between them and their deliveries.
type Directory struct {
	Endpoints interface {
		Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
		Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error)
		List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	}
	Circuits interface {
		Get(ctx context.Context, endpointID string) (circuit.Item, error)
	}
}

// Found is an endpoint, deleted or not, with its tenant's marks and its circuit.
type Found struct {
	Endpoint   endpoint.Endpoint
	Tenant     endpoint.Marks
	All        endpoint.TenantMarks // as they are stored
	Circuit    circuit.Item
	Unreadable bool // its row or its tenant's marks: then Endpoint has names only
}

// Unreadable tells a malformed item, which stays so, from a fault that may pass.
func Unreadable(err error) bool { return errors.Is(err, endpoint.ErrUnreadable) }

// Find returns the endpoint, or a refusal. Endpoints are stored by tenant. tenantID may be "" only if the endpoint is
// in trouble, because then its circuit names the tenant. If both name a tenant, tenantID counts, since deliver writes
// the circuit. With a tenant, endpointID may also be a host or a description that only one endpoint of the tenant has.
func (d Directory) Find(ctx context.Context, tenantID, endpointID string) (Found, error) {
	if err := Required("endpoint_id", endpointID); err != nil {
		return Found{}, err
	}
	endpointID, err := d.ID(ctx, tenantID, endpointID)
	if err != nil {
		return Found{}, err
	}
	item, err := d.Circuits.Get(ctx, endpointID)
	if err != nil {
		return Found{}, err
	}
	// An id does not tell its tenant. Only the item of an endpoint in trouble does.
	if tenantID == "" {
		tenantID = item.TenantID
	}
	if tenantID == "" {
		return Found{}, Invalid("tenant_id", "is required: the endpoint is not in trouble, so it is found only by its tenant")
	}
	return d.read(ctx, tenantID, endpointID, item)
}

// ID returns the id of an endpoint that may be named by its host or its description. An id is returned unchanged. A
// deleted endpoint cannot be found by name, because another endpoint may have taken its name over.
func (d Directory) ID(ctx context.Context, tenantID, name string) (string, error) {
	if isID(name) {
		return name, nil
	}
	if tenantID == "" {
		return "", Invalid("tenant_id", "is required where an endpoint is named by host or description")
	}
	all, err := d.Endpoints.List(ctx, tenantID)
	if Unreadable(err) { // an act must not hit another endpoint than was meant
		return "", Invalid("endpoint_id", "give the id: an endpoint of the tenant cannot be read, and may have the same name")
	}
	if err != nil {
		return "", err
	}
	var ids, candidates []string
	for _, e := range all {
		if e.Live() && (strings.EqualFold(e.Host(), name) || e.Description == name) {
			ids = append(ids, e.ID)
			candidates = append(candidates, strings.TrimSpace(e.ID+" "+e.Host()+" "+e.Description))
		}
	}
	switch len(ids) {
	case 0:
		const missing = "the tenant has no endpoint with this id, host or description"
		return "", Refuse(api.CodeNotFound, "endpoint_id", missing+didYouMean(name, names(all)))
	case 1:
		return ids[0], nil
	}
	return "", Invalid("endpoint_id", "give the id, since several match: "+strings.Join(candidates, "; "))
}

// names are the hosts and descriptions of endpoints that can be named by them.
func names(endpoints []endpoint.Endpoint) (names []string) {
	for _, e := range endpoints {
		if e.Live() {
			names = append(names, e.Host(), e.Description)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// isID tells an id from a name by its prefix. An empty name counts as an id, which Required has refused before.
func isID(name string) bool { return name == "" || strings.HasPrefix(name, endpoint.IDPrefix) }

// CheckEndpointID refuses a host or a description where a function may not read them.
func CheckEndpointID(endpointID string) error {
	if isID(endpointID) {
		return nil
	}
	return Invalid("endpoint_id", "must be an id here: inspect endpoint finds it by host or description")
}

// read adds an endpoint and its marks to its circuit.
func (d Directory) read(ctx context.Context, tenantID, id string, item circuit.Item) (Found, error) {
	e, found, err := d.Endpoints.Get(ctx, tenantID, id)
	if err == nil && !found {
		return Found{}, missing(tenantID, item)
	}
	var marks endpoint.TenantMarks
	if err == nil {
		marks, err = d.Endpoints.Marks(ctx, tenantID)
	}
	if Unreadable(err) {
		named := endpoint.Endpoint{ID: id, TenantID: tenantID}
		return Found{Endpoint: named, Circuit: item, Unreadable: true}, nil
	}
	if err != nil {
		return Found{}, err
	}
	e.Marks = marks.Of(e)
	return Found{Endpoint: e, Tenant: marks.Tenant, All: marks, Circuit: item}, nil
}

// missing refuses an endpoint that its tenant does not have. Its circuit may tell that it is another's.
func missing(tenantID string, item circuit.Item) error {
	if item.TenantID != "" {
		if err := CheckTenant(tenantID, item.TenantID); err != nil {
			return err
		}
	}
	return Refuse(api.CodeNotFound, "endpoint_id", "the tenant has no endpoint with this id")
}

// Admission says whether deliveries may be sent to the endpoint now.
func (f Found) Admission() endpoint.Admission {
	gate := endpoint.Gate{Endpoint: f.Endpoint, Found: true, Tenant: f.Tenant, Circuit: f.Circuit}
	return gate.AdmitsAny()
}

// State is the endpoint's state in a word: a stop hides the state of the circuit under it. An operator's pause hides
// the owner's stop, as it does in endpoint.Gate.
func (f Found) State() api.State {
	if f.Unreadable {
		return api.StateUnreadable
	}
	switch f.Admission() {
	case endpoint.Gone:
		return api.StateDeleted
	case endpoint.PausedByOperator:
		return api.StatePaused
	case endpoint.DisabledByOwner:
		return api.StateDisabled
	case endpoint.WaitsForRate:
		return api.StateRated
	default:
		return cmp.Or(api.State(f.Circuit.State), api.StateHealthy)
	}
}

// Since is the beginning of that state; zero where it is not known. Of an endpoint that was disabled it is its last
// change, which may be a later one. Of two pauses, the endpoint's counts.
func (f Found) Since() time.Time {
	switch f.State() {
	case api.StateDeleted:
		return f.Endpoint.DeletedAt
	case api.StateDisabled:
		return f.Endpoint.UpdatedAt
	case api.StatePaused:
		if f.Endpoint.Marks.Paused() {
			return f.Endpoint.Marks.PausedAt
		}
		return f.Tenant.PausedAt
	case api.StateRated:
		// The oldest that was sent in the last minute had waited since then.
		return f.Circuit.Pace.Oldest
	case api.StateHealthy, api.StateUnreadable:
		return time.Time{}
	}
	return f.Circuit.Since
}
