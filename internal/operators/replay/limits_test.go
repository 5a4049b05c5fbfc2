package replay

import "time"

const (
	maxJobs        = 20
	jobPage        = 100
	previewPage    = 1000
	eraseTime      = 20 * time.Second
	kindUnreadable = "unreadable_dead_letters"
	openedAtOnce   = 25
)
