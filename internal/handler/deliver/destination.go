package deliver

import (
	"sync/atomic"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

// destination is an endpoint as one batch knows it. The batch's deliveries to it share it.
type destination struct {
	key      dynamo.EndpointKey
	endpoint endpoint.Endpoint // zero where it does not exist
	view     health.View
	first    health.Write // has to be stored before anything is held

	slots   chan struct{} // as many as attempts may run at a time
	hanging atomic.Bool   // an attempt ran into its time limit
	left    atomic.Int32  // attempts that have not ended
}

func (d *destination) gone() bool {
	return d.endpoint.ID == "" || d.endpoint.Status == endpoint.Deleted
}

func (d *destination) disabled() bool { return d.endpoint.Status != endpoint.Active }

// open reports whether the endpoint is sent probes and last attempts only.
func (d *destination) open() bool { return d.view.Endpoint.State == health.Open }
