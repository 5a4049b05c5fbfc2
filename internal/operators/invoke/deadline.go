package invoke

import (
	"context"
	"time"
)

// Reserve is the time before the function's deadline after which no work begins: enough to finish work in progress,
// AWS calls that are tried again included.
const Reserve = 10 * time.Second

// finishTime bounds the writes that finish an action, even when ctx has ended.
const finishTime = 5 * time.Second

// OutOfTime reports whether too little time is left to start anything.
func OutOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || (ok && time.Until(deadline) < Reserve)
}

// Finishing returns a context for the writes that finish an action.
func Finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finishTime)
}
