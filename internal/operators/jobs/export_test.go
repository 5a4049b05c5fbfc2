package jobs

// The bounds that tests reach.
const (
	MaxJobs     = maxJobs
	PageSize    = pageSize
	PreviewSize = previewSize
)
