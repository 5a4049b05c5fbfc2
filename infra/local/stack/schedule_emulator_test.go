//go:build emulator

package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/sam"
)

func firesSchedules(t *testing.T, s *Stack) {
	t.Helper()
	log := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(s.options.logs(), name)) // empty until something is logged
		return string(text)
	}
	// The function takes seven seconds: a run after five seconds finds the one before under way.
	eventually(t, "a run begins while the one before is under way", func() bool {
		running, most := 0, 0
		for line := range strings.Lines(log("tick.log")) {
			switch strings.TrimSpace(line) {
			case "begin":
				running++
			case "end":
				running--
			}
			most = max(most, running)
		}
		return most > 1
	})
	eventually(t, "the host tells of a failed run", func() bool {
		return strings.Contains(log("host.log"), "scheduled invocation failed")
	})
}

func TestTranslate_refusesParametersThatTheTemplateDoesNotAllow(t *testing.T) {
	for name, test := range map[string]struct {
		environment string
		given       []string
		want        []string
	}{
		"against its declaration": {
			"local", []string{"BatchSize=0", "BatchSizes=10", "Kind=red", "Stage=a!", "Timeout=long"},
			[]string{
				"parameter BatchSize: 0 is less than the minimum of 1.0",
				"parameter BatchSizes: the template declares no such parameter",
				"parameter Kind: 'red' is not one of ['plain', 'fancy']",
				`parameter Stage: 'a!' does not match '\\A(?:[a-z]+|-)\\Z'`,
				"parameter Timeout: 'long' is not of type 'number'",
			},
		},
		"no value":      {"bare", nil, []string{"parameter Timeout: it has no default and was not given"}},
		"no assignment": {"local", []string{"Stage"}, []string{"parameter 'Stage': want Name=Value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sam.Translate(t.Context(),
				sam.Source{Root: checkout(t), Environment: test.environment, Parameters: test.given})
			if err == nil {
				t.Fatal("accepted")
			}
			_, got, _ := strings.Cut(err.Error(), "template.yaml: ")
			if diff := cmp.Diff(strings.Join(test.want, "; "), got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
