package operator

import (
	"time"

	"github.com/herald-webhooks/herald/internal/job"
)

// Job is a job as operators see it.
type Job struct {
	JobID     string         `json:"job_id"`
	Act       job.Act        `json:"act"`
	State     job.State      `json:"state"`
	Selector  JobSelector    `json:"selector"`
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

// JobSelector selects a job's letters or events. Until is its own start at the latest.
type JobSelector struct {
	TenantID   string     `json:"tenant_id"`
	EndpointID string     `json:"endpoint_id"`
	Reason     string     `json:"reason"`
	Status     string     `json:"status"`
	Since      *time.Time `json:"since"`
	Until      *time.Time `json:"until"`
}

// ShowJob shows a job.
func ShowJob(j job.Job) Job {
	shown := Job{
		JobID: j.ID, Act: j.Act, State: j.State, Operator: j.Operator, StartedAt: j.StartedAt, UpdatedAt: j.UpdatedAt,
		StoppedBy: j.StoppedBy, Selected: j.Selected, Done: j.Done, Refused: j.Refused, Failed: j.Failed,
		Selector: JobSelector{
			TenantID: j.Selector.TenantID, EndpointID: j.Selector.EndpointID, Reason: j.Selector.Reason,
			Status: j.Selector.Status, Since: OrNull(j.Selector.Since), Until: OrNull(j.Selector.Until),
		},
	}
	if j.State != job.Done {
		shown.Left = max(0, j.Selected-j.Done-job.Total(j.Refused)-job.Total(j.Failed))
	}
	return shown
}

// OrNull shows a time, or null for none.
func OrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
