package next

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Named is how many endpoints of a group are named at most.
const Named = 5

// Group is the endpoints that are in one state.
type Group[E any] struct {
	State     api.State
	Endpoints []E // some of them, where there are many
	Count     int
}

// Groups are endpoints by state, the worst state first: those in which an operator has something to do or, if none is,
// the worst. The counts are of all endpoints, of which the given ones may be a part.
func Groups[E any](endpoints []E, state func(E) api.State, counts map[api.State]int) []Group[E] {
	of := map[api.State]*Group[E]{}
	for _, e := range endpoints {
		in := state(e)
		if of[in] == nil {
			of[in] = &Group[E]{State: in}
		}
		of[in].Endpoints = append(of[in].Endpoints, e)
	}
	var all []Group[E]
	for in, g := range of {
		g.Count = max(len(g.Endpoints), counts[in])
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Group[E]) int {
		return cmp.Or(cmp.Compare(Health(a.State), Health(b.State)), cmp.Compare(a.State, b.State))
	})
	todo := slices.DeleteFunc(slices.Clone(all), func(g Group[E]) bool { return todos[g.State].one == "" })
	if len(todo) == 0 {
		return all[:min(1, len(all))]
	}
	return todo
}

// todos are what an operator does about endpoints in a state.
var todos = map[api.State]struct{ one, many string }{
	api.StateOpen:       {"tell its owner", "tell their owners"},
	api.StateFailing:    {"tell its owner", "tell their owners"},
	api.StateFlapping:   {"tell its owner", "tell their owners"},
	api.StatePaused:     {"resume it when its owner agrees", "resume them when their owners agree"},
	api.StateUnreadable: {"repair its row", "repair their rows"},
}

// mostReasons bounds the reasons of pauses that a sentence has.
const mostReasons = 3

// PauseReasons are the reasons that operators gave when they paused the endpoints, each once.
func PauseReasons(endpoints []api.ListedEndpoint) (reasons []string) {
	for _, e := range endpoints {
		given := e.State == api.StatePaused && e.PauseReason != ""
		if given && !slices.Contains(reasons, e.PauseReason) && len(reasons) < mostReasons {
			reasons = append(reasons, e.PauseReason)
		}
	}
	return reasons
}

// Says puts a group into words, with the name of its endpoint where it has one alone, such as "4 endpoints are open:
// tell their owners". The reasons of pauses are said of paused endpoints alone.
func (g Group[E]) Says(name string, pauses []string) string {
	text, do := name+" is", todos[g.State].one
	if g.Count != 1 {
		text, do = fmt.Sprintf("%d endpoints are", g.Count), todos[g.State].many
	}
	text += " " + string(g.State)
	if g.State == api.StatePaused && len(pauses) > 0 {
		text += " (" + strings.Join(pauses, ", ") + ")"
	}
	if do == "" {
		return text
	}
	return text + ": " + do
}

// Some are the endpoints of a group that are named, with the number of the others.
func (g Group[E]) Some() (some []E, more int) {
	some = g.Endpoints[:min(Named, len(g.Endpoints))]
	return some, g.Count - len(some)
}
