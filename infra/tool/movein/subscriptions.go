package movein

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// joined are a Convoy project's endpoints, each with the event types of its subscriptions in the field event_types. A
// subscription contains its endpoint. That copy is used if the file does not have the endpoint itself.
func joined(records []*record) (endpoints []*record) {
	byID := map[string]*record{}
	known := func(e *record) *record {
		id := e.text("uid")
		if have := byID[id]; have != nil && id != "" {
			return have
		}
		endpoints, byID[id] = append(endpoints, e), e
		return e
	}
	var subscriptions []*record
	for _, r := range records {
		if r.fields["endpoint_metadata"] == nil {
			known(r)
			continue
		}
		subscriptions = append(subscriptions, r)
	}
	types := map[*record][]string{}
	for _, r := range subscriptions {
		e := known(r.part("endpoint_metadata"))
		r.states()
		if r.off {
			e.note("subscription", "is not certainly on: its event types are left out")
			continue
		}
		if types[e] == nil {
			types[e] = e.names("event_types")
		}
		types[e] = append(types[e], subscribe(e, r)...)
	}
	for e, names := range types {
		e.setNames("event_types", names)
	}
	slices.SortStableFunc(endpoints, func(a, b *record) int { return a.number - b.number })
	return endpoints
}

// setNames sets a field to a list of names.
func (r *record) setNames(field string, names []string) {
	list, err := json.Marshal(names)
	if err != nil { // they were read as UTF-8, or mended
		r.refuse(field, "cannot be written as JSON")
		return
	}
	if r.fields == nil {
		r.fields = map[string]jsontext.Value{}
	}
	r.fields[field] = list
}

// subscribe returns the types of a subscription, and adds the notes about it to its endpoint.
func subscribe(e, subscription *record) (types []string) {
	config := subscription.part("filter_config")
	types = config.names("event_types")
	if len(types) == 0 {
		types = []string{"*"} // as Convoy does
	}
	filter := config.part("filter")
	filter.ignore("is_flattened")
	for _, name := range slices.Sorted(maps.Keys(filter.fields)) {
		if !filter.seen[name] && !empty(filter.fields[name]) {
			subscription.note("filter_config.filter", noFilter)
			break
		}
	}
	subscription.ignore(append(ofConvoy, "alert_config", "retry_config", "delivery_mode")...)
	subscription.lose(map[string]string{
		"function": noTransform, "rate_limit_config": noRate, "device_metadata": "Herald has no devices",
	})
	subscription.rest()
	e.adopt("subscription", subscription)
	return types
}
