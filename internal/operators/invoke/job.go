package invoke

import (
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// ShowJob shows a job. The rest is an estimate: dead letters may have come, gone or expired since they were
// counted. A job that is done has nothing left, whatever the numbers say.
func ShowJob(j job.Job) api.Job {
	shown := api.Job{
		JobID: j.ID, Act: j.Act, State: j.State, Selector: j.Selector, Operator: j.Operator, StartedAt: j.StartedAt,
		UpdatedAt: j.UpdatedAt, StoppedBy: j.StoppedBy, Selected: j.Selected, Done: j.Done, Refused: j.Refused,
		Failed: j.Failed,
	}
	if j.State != job.Done {
		shown.Left = max(0, j.Selected-j.Done-job.Total(j.Refused)-job.Total(j.Failed))
	}
	return shown
}
