package stack

import (
	"slices"
	"time"
)

// KeyChange is what one key of a tenant has done to one endpoint.
type KeyChange struct {
	KeyID, EndpointID string

	// The acts, each once, in the order of the first.
	Acts []string

	// How many changes there were.
	Count int

	Last time.Time

	// The endpoint gets deliveries where it got none before: it was made or restored, or has another URL.
	Elsewhere bool
}

// KeyChanges are the changes that keys have made, by key and endpoint, in the order of the first.
func KeyChanges(acts []Act) (all []KeyChange) {
	for _, act := range acts {
		if !act.ByKey() || act.EndpointID == "" {
			continue
		}
		at := slices.IndexFunc(all, func(c KeyChange) bool {
			return c.KeyID == act.KeyID && c.EndpointID == act.EndpointID
		})
		if at < 0 {
			at = len(all)
			all = append(all, KeyChange{KeyID: act.KeyID, EndpointID: act.EndpointID})
		}
		c := &all[at]
		c.Count++
		c.Last = act.At
		if !slices.Contains(c.Acts, act.Action) {
			c.Acts = append(c.Acts, act.Action)
		}
		c.Elsewhere = c.Elsewhere || act.elsewhere()
	}
	return all
}

// elsewhere reports whether a change sends deliveries to another place than before.
func (a Act) elsewhere() bool {
	return a.Action == "create" || a.Action == "restore" || a.Action == "update" && slices.Contains(a.Changed, "url")
}

// Elsewhere are the endpoints that keys have made, restored or moved, each once.
func Elsewhere(changes []KeyChange) (ids []string) {
	for _, c := range changes {
		if c.Elsewhere && !slices.Contains(ids, c.EndpointID) {
			ids = append(ids, c.EndpointID)
		}
	}
	return ids
}
