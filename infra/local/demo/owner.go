package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// listen begins to keep notices.
func (d *demo) listen(ctx context.Context) (err error) {
	d.notices, err = d.client.Listen(ctx, unique("notices"))
	return err
}

// owner shows everything that the owner of an endpoint gets besides deliveries: the owner's headers, notices of the
// earlier scenes, and the operator's test delivery.
func (d *demo) owner(ctx context.Context) error {
	heading("For the owner of an endpoint: headers, a test delivery, and notices")
	s, err := d.open(ctx, "owner", "user.*")
	if err != nil {
		return err
	}
	const name, value = "Authorization", "Bearer of-the-owner"
	header := management.EndpointChange{
		NewEndpoint: management.NewEndpoint{Headers: management.Of(&management.Headers{name: value})},
	}
	if err := s.Tenant.Call(ctx, http.MethodPatch, "/v1/webhooks/"+s.Endpoint.ID, header, nil); err != nil {
		return err
	}
	whom := api.TestRequest{TenantID: s.Tenant.TenantID, EndpointID: s.Endpoint.ID}
	if _, err := client.Ask(ctx, d.client, api.SendTest, whom); err != nil {
		return err
	}
	got, err := s.Await(ctx, 1)
	if err != nil {
		return err
	}
	d.check(got[0].Event == "herald.test" && got[0].Standard == nil && got[0].Header.Get(name) == value,
		"a test delivery arrives, verified and with the header %s that its owner set", name)
	for _, told := range []struct {
		endpointID string
		kinds      []circuit.Kind
	}{
		{d.brokenID, []circuit.Kind{circuit.NoticeOpened, circuit.NoticeRecovered}},
		{d.doomed.Endpoint.ID, []circuit.Kind{circuit.NoticeDeadLetter}},
	} {
		if err := d.told(ctx, told.endpointID, told.kinds); err != nil {
			return err
		}
	}
	return nil
}

// told waits for an endpoint's notices. Each is sent once while all goes well.
func (d *demo) told(ctx context.Context, endpointID string, want []circuit.Kind) error {
	var kinds []circuit.Kind
	err := client.Eventually(ctx, patience, fmt.Sprint("notices of ", want), func(ctx context.Context) (bool, error) {
		var err error
		kinds, err = d.notices.Of(ctx, endpointID)
		return len(kinds) >= len(want), err
	})
	if err != nil {
		return err
	}
	d.check(slices.Equal(kinds, want), "a rule on the event bus has brought the notices %v", kinds)
	return nil
}
