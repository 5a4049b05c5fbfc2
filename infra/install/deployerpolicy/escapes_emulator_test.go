//go:build emulator

package deployerpolicy

import (
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/rights"
)

// The other evaluator says the same of each escape, of each call that the deployer needs, and of a role that it made.
func TestASecondOpinionOnABoundedDeployer(t *testing.T) {
	identity := append(statementsOf(t, File), statementsOf(t, Bounds)...)
	var calls []rights.Call
	for _, a := range slices.Concat(escapes, work) {
		calls = append(calls, a.by(identity))
	}
	calls = append(calls, ofARole())
	verdicts, err := rights.SecondOpinion(t.Context(), root, calls)
	if err != nil {
		t.Fatal(err)
	}
	for i, call := range calls {
		if first := judge(t, call); first != verdicts[i] {
			t.Errorf("%s on %s with %v: ours says %s, the other %s",
				call.Action, call.Resource, call.Context, first, verdicts[i])
		}
	}
}
