//go:build emulator

package template

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/verify"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// The probe expects the rights that the template gives. Only AWS can show that IAM reads the template in the same way.
func TestTheProbeExpectsWhatRolesAllow(t *testing.T) {
	tpl := load(t)
	tried := map[string]map[bool]bool{}
	for _, c := range verify.Rights {
		service, action, _ := strings.Cut(c.Action, ":")
		input := c.Named(func(logical string) string {
			if tpl.Resources[logical].Type == "" {
				t.Errorf("%s: no resource %s", c.Function, logical)
			}
			return logical
		})
		name := strings.ToUpper(c.Function[:1]) + c.Function[1:]
		for _, a := range askedBy(t, testkit.Call{Service: service, Action: action, Body: input}) {
			if a.resource == "Deliveries" && a.tenants == "" {
				a.tenants = "msg_" // the partition of a delivery: of no kind, so that a rule for a kind excludes it
			}
			if got := may(tpl, name+"Role", a); got != c.Allowed {
				t.Errorf("%s: %+v is allowed: %v", c.Function, a, got)
			}
		}
		if tried[name] == nil {
			tried[name] = map[bool]bool{}
		}
		tried[name][c.Allowed] = true
	}
	for _, name := range functionsOf(tpl) {
		if len(tried[name]) != 2 {
			t.Errorf("%s: the probe tries no call that is allowed, or none that is refused", name)
		}
	}
}
