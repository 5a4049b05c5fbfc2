package replay

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// codeJobInstead refuses a request for an act that is a job's alone.
const codeJobInstead = "job_instead"

// jobRequested is the request for the job that stands in for a refused request.
type jobRequested struct {
	Action     string  `json:"action"`
	Act        job.Act `json:"act"`
	TenantID   string  `json:"tenant_id,omitzero"`
	EndpointID string  `json:"endpoint_id,omitzero"`
	DryRun     bool    `json:"dry_run,omitzero"`
}

// jobInstead refuses a request, and shows the one for the job. It does not start the job: the refused request may have
// been about one page, and the job is about everything.
func jobInstead(field string, instead jobRequested) error {
	instead.Action = "start_job"
	shown, err := json.Marshal(instead)
	if err != nil {
		return err
	}
	return invoke.Refuse(codeJobInstead, field, "only a job does this: ask "+string(shown))
}

// endpointRequest once replayed an endpoint's dead letters page by page.
type endpointRequest struct {
	invoke.Page
	EndpointID string `json:"endpoint_id"`
	TenantID   string `json:"tenant_id"`
	DryRun     bool   `json:"dry_run"`
}

// refuseEndpoint refuses to replay an endpoint's dead letters in a request: how many there are, no request knows.
func refuseEndpoint(_ context.Context, _ *invoke.Call, req endpointRequest) (none struct{}, err error) {
	return none, jobInstead("action", jobRequested{
		Act: job.Replay, TenantID: req.TenantID, EndpointID: req.EndpointID, DryRun: req.DryRun,
	})
}
