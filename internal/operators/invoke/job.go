package invoke

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Job is a job as operators see it.
type Job struct {
	JobID     string         `json:"job_id"`
	Act       job.Act        `json:"act"`
	State     job.State      `json:"state"`
	Selector  job.Selector   `json:"selector"` // Until is the job's own start at the latest
	Operator  string         `json:"operator"`
	StartedAt time.Time      `json:"started_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	StoppedBy string         `json:"stopped_by"` // who stopped or resumed it last
	Selected  int            `json:"selected"`   // when it was started
	Done      int            `json:"done"`
	Refused   map[string]int `json:"refused"` // by reason
	Failed    map[string]int `json:"failed"`  // by reason
	Left      int            `json:"left"`
}

// ShowJob shows a job. The rest is an estimate: dead letters may have come, gone or expired since they were
// counted. A job that is done has nothing left, whatever the numbers say.
func ShowJob(j job.Job) Job {
	shown := Job{
		JobID: j.ID, Act: j.Act, State: j.State, Selector: j.Selector, Operator: j.Operator, StartedAt: j.StartedAt,
		UpdatedAt: j.UpdatedAt, StoppedBy: j.StoppedBy, Selected: j.Selected, Done: j.Done, Refused: j.Refused,
		Failed: j.Failed,
	}
	if j.State != job.Done {
		shown.Left = max(0, j.Selected-j.Done-job.Total(j.Refused)-job.Total(j.Failed))
	}
	return shown
}
