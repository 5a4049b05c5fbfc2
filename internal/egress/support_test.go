package egress_test

import (
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// to is a delivery of tenant_1 to a URL.
func to(url string) delivery.Request {
	return delivery.Request{
		TenantID: "tenant_1",
		URL:      url,
		Header:   []delivery.Field{{Name: "Content-Type", Value: "application/json"}},
		Body:     []byte(`{"type":"user.created","data":{}}`),
	}
}

// checkResponse compares all of a response but the time it took.
func checkResponse(t *testing.T, what string, want, got delivery.Response) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(delivery.Response{}, "Elapsed")); diff != "" {
		t.Errorf("response to %s (-want +got):\n%s", what, diff)
	}
}

func pemOf(c *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}
