package parts

import (
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// LetterPage describes an opened dead letter, apart from its body. e is its endpoint, nil where it is not known.
func (s Site) LetterPage(l api.OpenedDeadLetter, e *api.Endpoint) Page {
	return Page{Head: s.LetterHead(l.DeadLetter, e), Facts: letterFacts(l), Timeline: s.LetterTimeline(l)}
}

func letterFacts(l api.OpenedDeadLetter) []Fact {
	var f facts
	f.add("endpoint", l.EndpointID)
	f.add("its host", l.Host)
	f.add("its description", l.Description)
	if l.Attempts > 0 {
		f.add("attempts before the latest death", Grouped(l.Attempts))
	}
	if l.ReplayCount > 0 {
		f.add("sent again by operators", Grouped(l.ReplayCount)+" times")
	}
	if n := len(l.History); n > 0 {
		f.add("trace", l.History[n-1].Trace)
	}
	// The rest is as it is sent or was received, in full. A cell of a table would be cut.
	for _, name := range slices.Sorted(maps.Keys(l.Headers)) {
		f = append(f, Fact{"header " + name, l.Headers[name]})
	}
	for _, a := range l.Attributes {
		f = append(f, Fact{"attribute " + a.Name + ", " + a.Type, a.Value})
	}
	return f
}
