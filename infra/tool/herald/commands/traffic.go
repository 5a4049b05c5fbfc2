package commands

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// trafficJSON is a tenant's traffic as programs read it. The numbers are estimates, unless the sample is 100.
type trafficJSON struct {
	Since     time.Time   `json:"since"`
	Sample    float64     `json:"success_log_sample"`
	Tenant    shareJSON   `json:"tenant"`
	All       shareJSON   `json:"all"`
	Endpoints []shareJSON `json:"endpoints"`
}

type shareJSON struct {
	ID       string  `json:"id,omitzero"`
	Attempts float64 `json:"attempts"`
	Millis   float64 `json:"ms"`
}

// readTraffic reads a tenant's traffic where the line asks for it; nil otherwise.
func readTraffic(ctx context.Context, c call) (*stack.TenantTraffic, error) {
	if !c.line.Bool("traffic") {
		return nil, nil
	}
	var log stack.AttemptLog = stack.Insights{Stack: c.stack, Client: cloudwatchlogs.NewFromConfig(c.stack.AWS)}
	if c.line.Bool("local") {
		log = stack.LoggedLines{Path: stack.LocalLog, Sample: c.stack.Sample()}
	}
	found, err := stack.ReadTraffic(ctx, log, c.fields.TenantID, c.Now())
	return &found, err
}

func trafficJSONOf(t *stack.TenantTraffic) *trafficJSON {
	if t == nil {
		return nil
	}
	of := func(s stack.Share) shareJSON { return shareJSON{s.ID, s.Attempts, s.Millis} }
	shown := &trafficJSON{
		Since: t.Since.UTC(), Sample: t.Endpoints.Sample, Tenant: of(t.Tenant), All: of(t.All), Endpoints: []shareJSON{},
	}
	for _, share := range t.Endpoints.Parts {
		shown.Endpoints = append(shown.Endpoints, of(share))
	}
	return shown
}
