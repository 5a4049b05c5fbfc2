package dynamo

import (
	"time"

	"github.com/herald-webhooks/herald/internal/health"
)

// healthName is the sort key of every health.Item.
const healthName = "health"

// scopeOf is the partition of an endpoint's item, or of a tenant's where no endpoint is named.
func scopeOf(i health.Item) string {
	if i.EndpointID == "" {
		return "tenant#" + i.TenantID
	}
	return "endpoint#" + i.EndpointID
}

func healthKey(i health.Item) attributes {
	return attributes{"scope": str(scopeOf(i)), "name": str(healthName)}
}

// healthItem leaves out what is zero: conditions on marks ask whether an attribute exists.
func healthItem(i health.Item) attributes {
	item := healthKey(i)
	w := sparse(item)
	w.str("tenant_id", i.TenantID)
	w.str("endpoint_id", i.EndpointID)
	w.num("version", i.Version)
	w.str("state", string(i.State))
	w.time("since", i.Since)
	w.time("changed", i.Changed)
	w.mark("paused", i.Paused)
	w.mark("held", i.Held)
	w.time("discarded_before", i.DiscardedBefore)
	w.num("failures", int64(i.Failures))
	w.time("failing_since", i.FailingSince)
	w.time("failed_at", i.FailedAt)
	w.strs("deliveries", i.Deliveries)
	w.num("last_status", int64(i.LastStatus))
	w.str("last_reason", i.LastReason)
	w.num("probes", int64(i.Probes))
	w.num("probe", i.Probe)
	w.time("probed_at", i.ProbedAt)
	w.time("next_probe", i.NextProbe)
	w.time("probe_failed", i.ProbeFailed)
	w.num("ticks", int64(i.Ticks))
	w.num("quota", int64(i.Quota))
	w.mark("full", i.Full)
	w.time("oldest", i.Oldest)
	w.mark("ordered", i.Ordered)
	return item
}

func healthItemOf(item attributes) health.Item {
	return health.Item{
		TenantID:        getStr(item, "tenant_id"),
		EndpointID:      getStr(item, "endpoint_id"),
		Version:         getNum(item, "version"),
		State:           health.State(getStr(item, "state")),
		Since:           getTime(item, "since"),
		Changed:         getTime(item, "changed"),
		Paused:          getBool(item, "paused"),
		Held:            getBool(item, "held"),
		DiscardedBefore: getTime(item, "discarded_before"),
		Failures:        int(getNum(item, "failures")),
		FailingSince:    getTime(item, "failing_since"),
		FailedAt:        getTime(item, "failed_at"),
		Deliveries:      getStrs(item, "deliveries"),
		LastStatus:      int(getNum(item, "last_status")),
		LastReason:      getStr(item, "last_reason"),
		Probes:          int(getNum(item, "probes")),
		Probe:           getNum(item, "probe"),
		ProbedAt:        getTime(item, "probed_at"),
		NextProbe:       getTime(item, "next_probe"),
		ProbeFailed:     getTime(item, "probe_failed"),
		Ticks:           int(getNum(item, "ticks")),
		Quota:           int(getNum(item, "quota")),
		Full:            getBool(item, "full"),
		Oldest:          getTime(item, "oldest"),
		Ordered:         getBool(item, "ordered"),
	}
}

// sparse writes attributes that are not zero.
type sparse attributes

func (s sparse) str(name, value string) {
	if value != "" {
		s[name] = str(value)
	}
}

func (s sparse) num(name string, value int64) {
	if value != 0 {
		s[name] = num(value)
	}
}

func (s sparse) time(name string, at time.Time) {
	if !at.IsZero() {
		s[name] = stamp(at)
	}
}

func (s sparse) mark(name string, set bool) {
	if set {
		s[name] = boolean(true)
	}
}

func (s sparse) strs(name string, values []string) {
	if len(values) > 0 {
		s[name] = strs(values)
	}
}
