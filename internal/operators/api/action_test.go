package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// Functions refuse empty fields: they would be taken for a filter by nothing.
func TestAction_Encode_leavesOutWhatIsNotGiven(t *testing.T) {
	since := time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC)
	for want, encode := range map[string]func(operator string) ([]byte, error){
		`{"action":"summary","operator":"ann"}`: func(operator string) ([]byte, error) {
			return api.GetSummary.Encode(operator, api.SummaryRequest{})
		},
		`{"action":"dead_letters","operator":"ann","limit":7,"reason":"timeout","status":"dead","since":"` +
			since.Format(time.RFC3339) + `"}`: func(operator string) ([]byte, error) {
			return api.ListDeadLetters.Encode(operator, api.DeadLettersRequest{
				Page: api.Page{Limit: new(7)}, Selector: api.Selector{Status: "dead", Reason: "timeout", Since: since},
			})
		},
		`{"action":"discard","operator":"ann","tenant_id":"acme","confirm":true}`: func(operator string) ([]byte, error) {
			return api.Discard.Encode(operator, api.DiscardRequest{Target: api.Target{TenantID: "acme"}, Confirm: true})
		},
	} {
		if got, err := encode("ann"); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

func TestAction_Decode_ofAnotherVersion(t *testing.T) {
	for name, row := range map[string]struct {
		answer string
		want   api.Summary
	}{
		"a newer one's fields are ignored": {
			`{"moons":[{"phase":1}],"waiting":{"count":4,"moons":2}}`, api.Summary{Waiting: api.Backlogged{Count: 4}}},
		"what an older one does not send is zero": {`{}`, api.Summary{}},
		"an unknown time is zero": {
			`{"dead_letters":{"dead":{"count":0,"oldest_died_at":null}}}`,
			api.Summary{DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {}}}},
		"a newer one's state stays as it is": {
			`{"endpoints":{"states":{"asleep":1}}}`,
			api.Summary{Endpoints: api.EndpointCounts{States: map[api.State]int{"asleep": 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := api.GetSummary.Decode([]byte(row.answer))
			if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAction_Decode_refusal(t *testing.T) {
	const answer = `{"error":{"code":"not_found","message":"no delivery has this id","field":"delivery_id"}}`
	_, err := api.GetDelivery.Decode([]byte(answer))
	refusal, refused := errors.AsType[*api.Refusal](err)
	if !refused || refusal.Error() != "delivery_id: no delivery has this id" || !errors.Is(err, api.ErrNotFound) {
		t.Errorf("%v is not the refusal", err)
	}
	if _, err := api.GetDelivery.Decode([]byte(`<html>`)); err == nil {
		t.Error("no JSON is taken for an answer")
	}
}
