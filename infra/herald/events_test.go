package main

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/event"
)

func TestEventsList_hasTheCatalogue(t *testing.T) {
	out := new(fake).ends(t, exitDone, "-o json events list")
	var rows []struct {
		Type        string         `json:"type"`
		Description string         `json:"description"`
		Schema      map[string]any `json:"schema"`
		Example     map[string]any `json:"example"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		if names = append(names, r.Type); r.Description == "" || r.Schema == nil || r.Example == nil {
			t.Errorf("incomplete: %+v", r)
		}
	}
	if diff := cmp.Diff(event.Types(), names); diff != "" {
		t.Errorf("types (-known +listed):\n%s", diff)
	}
}
