package simulate

import "testing"

func TestCrowdScenarios_sweepTenantsLimitsAndFloods(t *testing.T) {
	played := map[string]bool{}
	for _, s := range crowdScenarios() {
		if wants := s.crowd.wants(); wants > mostWanted || wants == 0 && s.crowd.tenants > 0 {
			t.Errorf("%s: the attackers want %g/s", s.Title(), wants)
		}
		played[s.Title()] = true
	}
	for _, title := range []string{
		"paces/alone", "paces/1-tenants/50x10x1.1", "paces/10-tenants/50x1x1.1", "paces/10-tenants/10x1x10",
		"paces/10-tenants/2x100x0.5", "paces/50-tenants/40x1x0.5", "paces/50-tenants/1x10x1.1",
	} {
		if !played[title] {
			t.Errorf("%s is not played", title)
		}
	}
}
