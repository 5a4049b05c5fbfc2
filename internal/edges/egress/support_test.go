package egress_test

import (
	"crypto/tls"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// A case that ends by one of the client's limits gets a short one; all others are longer than the
// case may take, so that none passes by running into them.
var longLimits = limits{connect: time.Minute, attempt: time.Minute}

type limits struct{ connect, attempt, age time.Duration }

// newClient is a client that reaches loopback addresses, and is closed in the end.
func newClient(t *testing.T, ca *receivers.CA, target receivers.Target, limit limits) *egress.Client {
	t.Helper()
	client := egress.New(egress.Config{
		Policy:         loopbackPolicy(),
		ConnectTimeout: limit.connect,
		AttemptTimeout: limit.attempt,
		MaxAge:         limit.age,
		RootCAs:        ca.Pool(),
		Resolver:       target.Resolver,
	})
	t.Cleanup(client.Close)
	return client
}

// loopbackPolicy is the local stage's: exactly 127.0.0.1 and the ports above the privileged ones.
func loopbackPolicy() egress.Policy {
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: egress.LocalStage, AllowCIDRs: "127.0.0.1/32", AllowPorts: "1024-65535",
	})
	if err != nil {
		panic(err)
	}
	return policy
}

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

// listen gives every connection, of this version of TLS at most, to handle and closes it after that.
func listen(t *testing.T, ca *receivers.CA, version uint16, handle func(net.Conn)) (address string) {
	t.Helper()
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, MaxVersion: version, Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			})
		}
	})
	return listener.Addr().String()
}
