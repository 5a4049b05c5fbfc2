package invoke

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// jobsAtOnce is how many jobs are read together.
const jobsAtOnce = 100

// RefuseWhilePublishing refuses a request that receives rejected events while a job works through them: the job would
// meet the queue's end without the events that the request hides. A request that began before the job was started did
// not know of it. The job ends when all of those are over.
func RefuseWhilePublishing(ctx context.Context, jobs interface {
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)
}) error {
	for next := ""; ; {
		running, after, err := jobs.List(ctx, job.Running, jobsAtOnce, next)
		if err != nil {
			return err
		}
		for _, j := range running {
			if j.Act.OnEvents() {
				return Refuse(api.CodePublishing, "", fmt.Sprintf(
					"the job %s works through the rejected events, %d of %d done: ask when it has ended, or stop it",
					j.ID, j.Done, j.Selected))
			}
		}
		if after == "" {
			return nil
		}
		next = after
	}
}
