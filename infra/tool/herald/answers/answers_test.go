package answers_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestShown_hasOneSignForNothing(t *testing.T) {
	var none *int
	at := time.Date(2026, 5, 2, 11, 0, 0, 0, time.FixedZone("CEST", 7200))
	for want, values := range map[string][]any{
		answers.Nothing:        {nil, "", none, time.Time{}, delivery.Reason("")},
		"0":                    {0, 0.0, new(0)},
		"open":                 {"open", api.StateOpen},
		"a, b":                 {[]any{"a", "b"}, []api.State{"a", "b"}},
		"1000000":              {1e6, 1000000},
		"2026-05-02T09:00:00Z": {at, "2026-05-02T09:00:00Z"},
		`{"a":1}`:              {map[string]any{"a": 1.0}, map[string]int{"a": 1}},
	} {
		for _, v := range values {
			if got := answers.Shown(v); got != want {
				t.Errorf("%#v is shown as %s, want %s", v, got, want)
			}
		}
	}
}

// A stack may be newer or older than the tool. Its answer is handed on as it came.
func TestRead_ofAnotherVersion(t *testing.T) {
	const newer = `{"moons":[{"phase":1}],"state":"asleep","attempts":3}`
	got, err := answers.Read[api.Delivery](jsontext.Value(newer))
	want := api.Delivery{State: "asleep", Attempts: 3}
	if diff := cmp.Diff(want, got.Fields); diff != "" || err != nil || string(got.JSON) != newer {
		t.Errorf("%v, %s (-want +got):\n%s", err, got.JSON, diff)
	}
}

func TestListOf_handsOnWhatItDoesNotKnow(t *testing.T) {
	const newer = `{"data":[{"delivery_id":"msg_1","moons":2}],"next_cursor":"c","note":"so far","moons":1}`
	got, err := answers.ListOf[api.Delivery](jsontext.Value(newer))
	want := answers.List[api.Delivery]{
		Data: []api.Delivery{{DeliveryID: "msg_1"}}, NextCursor: new("c"), Note: "so far", JSON: jsontext.Value(newer),
		Raw: []jsontext.Value{jsontext.Value(`{"delivery_id":"msg_1","moons":2}`)},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := answers.ListOf[api.Delivery](jsontext.Value(`{"data":[{"attempts":"many"}]}`)); err == nil {
		t.Error("a row of another type is read")
	}
}
