package model

import "strings"

// On has calls with this name, or this beginning of it, meet a verdict: so many of them, 0 for all from now on. The
// name is that of [Call], with its key: "Send RetryQueue(msg_1)". The first that was asked for decides. It is set
// outside of calls.
func (m *Model) On(name string, times int, v Verdict) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	before, met := m.Judge, 0
	m.Judge = func(c *Call) Verdict {
		if before != nil {
			if earlier := before(c); earlier != Done {
				return earlier
			}
		}
		m.Mu.Lock()
		defer m.Mu.Unlock()
		if !strings.HasPrefix(c.Name+"("+c.Key+")", name) || times > 0 && met == times {
			return Done
		}
		met++
		return v
	}
}

// Mend ends all that On has begun.
func (m *Model) Mend() {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Judge = nil
}
