package deliver

import "sync/atomic"

// endpointLimit is shared by the attempts of one batch to one endpoint.
type endpointLimit struct {
	slots   chan struct{} // as many as may run at a time
	hanging atomic.Bool   // one of them ran into its time limit
	left    atomic.Int32  // those that have not ended
}

// endpointLimits counts the pending tasks of each endpoint and allows perEndpoint of them at a
// time.
func endpointLimits(tasks []*task, perEndpoint int) map[string]*endpointLimit {
	limits := make(map[string]*endpointLimit)
	for _, t := range tasks {
		if !t.pending() {
			continue
		}
		l := limits[t.message.EndpointID]
		if l == nil {
			l = &endpointLimit{slots: make(chan struct{}, max(perEndpoint, 1))}
			limits[t.message.EndpointID] = l
		}
		l.left.Add(1)
	}
	return limits
}
