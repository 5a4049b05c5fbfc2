package dynamo

import (
	"reflect"
	"strings"
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
		OAuth:        &endpoint.OAuth{TokenURL: "https://id.example/", ClientID: "c", Scope: "s", Audience: "a", Method: "m"},
		OAuthVersion: 3, SealedOAuth: []byte("o"), AboutRow: endpoint.AboutKept,
	}
	for _, at := range []*time.Time{
		&want.CreatedAt, &want.UpdatedAt, &want.SitedAt, &want.DeletedAt, &want.SecretRotatedAt, &want.PreviousUntil,
	} {
		*at = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[endpoint.Endpoint]()) {
		elsewhere := field.Name == "Marks" || field.Name == "About" // these have a row of theirs
		if !elsewhere && reflect.ValueOf(want).FieldByIndex(field.Index).IsZero() {
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

// The key of what an owner says is outside of all that is read of endpoints, here and in versions before: of fanout's
// reads, of lists, and of the index by id.
func TestAboutKey_isOutsideOfWhatIsReadOfEndpoints(t *testing.T) {
	key := aboutKey(endpoint.Endpoint{TenantID: "acme", ID: "webhook_1"}).EndpointID
	for _, prefix := range []string{endpoint.IDPrefix, deletedPrefix, countsKey} {
		if strings.HasPrefix(key, prefix) {
			t.Errorf("%s begins with %s", key, prefix)
		}
	}
	if key >= countsKey { // behind which a tenant's endpoints are listed
		t.Errorf("%s is not before %s", key, countsKey)
	}
}
