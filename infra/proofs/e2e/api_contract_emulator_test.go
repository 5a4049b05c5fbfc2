//go:build emulator

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
)

// described is the transport of every call from these tests to an HTTP API. It checks each exchange against the
// description infra/openapi.yaml, and remembers the faults.
type described struct {
	contract *contract.Contract

	mu         sync.Mutex
	exchanges  int
	violations []error
}

// describe puts the transport into the client, and so into those made of it.
func describe(c *client.Client, description string) (*described, error) {
	loaded, err := contract.Load(description)
	if err != nil {
		return nil, err
	}
	d := &described{contract: loaded}
	c.HTTP.Transport = d
	return d, nil
}

// verdict tells of every exchange that was not as documented.
func (d *described) verdict() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, violation := range d.violations {
		fmt.Println("contract:", violation)
	}
	if len(d.violations) > 0 {
		return fmt.Errorf("%d of %d exchanges with the HTTP API are not as infra/openapi.yaml says", len(d.violations),
			d.exchanges)
	}
	fmt.Printf("contract: %d exchanges with the HTTP API, all as infra/openapi.yaml says\n", d.exchanges)
	return nil
}

// RoundTrip implements http.RoundTripper.
func (d *described) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("reading request: %w", err)
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	received, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(received))
	if err != nil {
		return nil, fmt.Errorf("reading answer: %w", err)
	}
	violation := d.contract.Check(contract.Exchange{
		Method: req.Method, Target: target(req.URL), RequestHeader: req.Header, RequestBody: sent,
		Status: res.StatusCode, ResponseHeader: res.Header, ResponseBody: received,
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exchanges++
	if violation != nil {
		d.violations = append(d.violations, violation)
	}
	return res, nil
}

func target(u *url.URL) string { return u.RequestURI() }
