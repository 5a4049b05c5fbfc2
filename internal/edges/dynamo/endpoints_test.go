package dynamo

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// A field of an endpoint that is not stored, or not read again, would be lost without a word.
func TestEveryFieldOfAnEndpointIsStored(t *testing.T) {
	want := endpoint.Endpoint{
		ID: "webhook_1", TenantID: "acme", URL: "https://example.com/", Description: "crm", Events: []string{"*"},
		Status: endpoint.Disabled, Site: "example.com", SecretVersion: 1, SealedSecret: []byte("s"),
		SealedPrevious: []byte("p"),
		HeaderNames:    []string{"X"}, HeadersVersion: 2, SealedHeaders: []byte("h"), Revision: "r",
		PublicKey: "whpk_1", PreviousKey: "whpk_0", RateLimit: 10,
	}
	for _, at := range []*time.Time{
		&want.CreatedAt, &want.UpdatedAt, &want.SitedAt, &want.DeletedAt, &want.SecretRotatedAt, &want.PreviousUntil,
	} {
		*at = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[endpoint.Endpoint]()) {
		if field.Name != "Marks" && reflect.ValueOf(want).FieldByIndex(field.Index).IsZero() { // these have a row of theirs
			t.Errorf("%s has no value here: add one", field.Name)
		}
	}
	for _, status := range []endpoint.Status{endpoint.Disabled, endpoint.Deleted} {
		want.Status = status
		row, err := marshal((&Endpoints{}).row(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := endpointOf(row)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +stored):\n%s", status, err, diff)
		}
	}
}
