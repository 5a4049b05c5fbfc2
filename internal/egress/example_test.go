package egress_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
)

// A receiver on a loopback address is reached under the local stage's policy only.
func ExampleClient_Post() {
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())

	local, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: "127.0.0.1/32", AllowPorts: "1024-65535",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, policy := range []egress.Policy{local, {}} {
		client := egress.New(egress.Config{Policy: policy, RootCAs: roots})
		got := client.Post(context.Background(), delivery.Request{
			TenantID: "tenant_1",
			URL:      receiver.URL + "/hook",
			Header:   []delivery.Field{{Name: "Content-Type", Value: "application/json"}},
			Body:     []byte(`{}`),
		})
		fmt.Printf("status %d, reason %q\n", got.Status, got.Reason)
	}
	// Output:
	// status 204, reason ""
	// status 0, reason "blocked_address"
}
