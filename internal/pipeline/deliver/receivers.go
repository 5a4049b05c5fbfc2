package deliver

import (
	"context"
	"sync/atomic"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// receiver is an endpoint as the attempts of one batch share it.
type receiver struct {
	// places bounds the attempts that are open at once. All endpoints of a tenant at one host share it.
	places chan struct{}

	// hangs says that an attempt to the endpoint has timed out.
	hangs atomic.Bool
}

// receiversOf returns the receiver of each endpoint. At most perHost attempts of a tenant to one host are open at once.
// Two tenants never share places, since both may have endpoints at one host, such as a chat product's. Endpoints of one
// tenant at one host share them, so that a tenant cannot multiply its share by more endpoints. A timeout counts against
// its endpoint only, since another path at the host may answer.
func receiversOf(posts []candidate, perHost int) map[dynamo.EndpointKey]*receiver {
	type tenantHost struct{ tenantID, host string }
	receivers := map[dynamo.EndpointKey]*receiver{}
	hosts := map[tenantHost]chan struct{}{}
	for _, c := range posts {
		host := tenantHost{c.key().TenantID, c.reading.Endpoint.Host()}
		if hosts[host] == nil {
			hosts[host] = make(chan struct{}, max(perHost, 1))
		}
		if receivers[c.key()] == nil {
			receivers[c.key()] = &receiver{places: hosts[host]}
		}
	}
	return receivers
}

// enter waits for a place. It returns "" if the attempt may begin: then leave has to follow. Otherwise it returns the
// reason why no attempt is made. It runs out of time if no place is free by the deadline of ctx. A first attempt to an
// endpoint that hangs would keep the batch for another timeout, so it goes to RetryQueue, from which fewer attempts to
// that endpoint are made.
func (r *receiver) enter(ctx context.Context, from delivery.Queue) (refused delivery.Reason) {
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return delivery.ReasonOutOfTime
	}
	switch {
	case ctx.Err() != nil: // Go chooses either case if both are ready
		refused = delivery.ReasonOutOfTime
	case from == delivery.DeliveryQueue && r.hangs.Load():
		refused = delivery.ReasonEndpointHanging
	}
	if refused != "" {
		r.leave()
	}
	return refused
}

// leave frees the place.
func (r *receiver) leave() { <-r.places }
