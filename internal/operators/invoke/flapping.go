package invoke

import (
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// flappingAttempts is the fewest attempts of ten minutes that tell a flapping endpoint from an unlucky one.
const flappingAttempts = 10

// recently is the time that circuit.Recent covers.
const recently = 10 * time.Minute

// Shown is the endpoint's state as operators see it. A flapping endpoint changes between failing and healthy with each
// answer, so that State hides both. It flaps if between 10 and 90 % of its recent attempts succeeded. After a recovery,
// the failures among them belong to the outage.
func (f Found) Shown(now time.Time) api.State {
	state := f.State()
	ok, tried := f.Circuit.Recent.Share(now)
	mixed := tried >= flappingAttempts && 10*ok >= tried && 10*ok <= 9*tried
	recovered := now.Sub(f.Circuit.RecoveredAt) < recently
	if mixed && !recovered && (state.Untroubled() || state == api.StateFailing) {
		return api.StateFlapping
	}
	return state
}
