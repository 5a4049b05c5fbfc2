package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The actions that start, stop and work off jobs.
var (
	// StartJob counts a selection and, unless it is a dry run, starts a job on it. A job that deletes for good is started
	// at the alias.
	StartJob = Action[StartJobRequest, Survey]{Replay, "start_job"}

	// StopJob stops a job after the page under way.
	StopJob = Action[JobRequest, Job]{Replay, "stop_job"}

	// ResumeJob lets a stopped job continue where it stopped. A job that deletes for good is resumed at the alias.
	ResumeJob = Action[JobRequest, Job]{Replay, "resume_job"}

	// WorkJobs works off the running jobs. Release asks for it each minute.
	WorkJobs = Action[struct{}, struct{}]{Replay, "work_jobs"}
)

// StartJobRequest selects dead letters or rejected events for a job.
type StartJobRequest struct {
	Selector
	Act job.Act `json:"act"`

	// Any text of at most 128 bytes. The same token starts no second job.
	Token string `json:"token"`

	// Counts the selection and starts nothing.
	DryRun bool `json:"dry_run"`

	// Must be true to start a job that deletes for good.
	Confirm bool `json:"confirm"`
}

// Survey previews a job, and has the job if one was started.
type Survey struct {
	// How many the job selects.
	Selected int `json:"selected"`

	// How many of them nothing refuses, as far as can be told without opening a dead letter.
	Ready int `json:"ready"`

	// How many would be refused, by reason.
	Refused map[string]int `json:"refused"`

	// False if time ran out: there are more.
	Complete bool `json:"complete"`

	// The end of the selection. A job that is started with it has the same selection.
	Until time.Time `json:"until"`

	// Null in a dry run.
	Job *Job `json:"job"`
}
