package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// The actions that start, stop and work off jobs.
var (
	// StartJob counts a selection and, unless it is a dry run, starts a job on it. A job that deletes for good is
	// started at the alias. All jobs together act on 50 dead letters or events a second at most: 100,000 take an hour.
	// What they send goes to RetryQueue, where no first attempt waits behind it.
	StartJob = Action[StartJobRequest, Survey]{Replay, "start_job"}

	// StopJob stops a job after the page of 100 under way.
	StopJob = Action[JobRequest, Job]{Replay, "stop_job"}

	// ResumeJob lets a stopped job continue where it stopped. A job that deletes for good is resumed at the alias.
	ResumeJob = Action[JobRequest, Job]{Replay, "resume_job"}

	// WorkJobs works off the running jobs. Release asks for it each minute.
	WorkJobs = Action[struct{}, struct{}]{Replay, "work_jobs"}
)

// StartJobRequest selects dead letters or rejected events for a job, as their lists do, but an endpoint by its id
// alone. The status is dead unless it is given. What died after the job's start, or after until, is left out.
type StartJobRequest struct {
	Selector
	Act job.Act `json:"act"`

	// Any text of at most 128 bytes. The same token starts no second job, and is answered with the first.
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

	// How many would be refused, by reason, of an event invalid_event. What only shows when a dead letter is opened is
	// found later.
	Refused map[string]int `json:"refused"`

	// False if time ran out: there are more.
	Complete bool `json:"complete"`

	// The end of the selection. A job that is started with it is about exactly the ones that were counted.
	Until time.Time `json:"until"`

	// Null in a dry run.
	Job *Job `json:"job"`
}
