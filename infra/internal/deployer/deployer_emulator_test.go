//go:build emulator

package deployer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/internal/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const root = "../../.."

// A new resource of the template needs rights that the deployer may not have yet.
func TestThePolicyIsGenerated(t *testing.T) {
	want, err := Generate(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not of this template: run go run ./infra/deployer (-generated +committed):\n%s", File, diff)
	}
	// IAM takes that many characters as the policy of a role, and counts no white space.
	if n := len(strings.Join(strings.Fields(string(got)), "")); n > 10_240 {
		t.Errorf("%s has %d characters: too many for a role", File, n)
	}
}

// Each action of a handler is in the policy, or belongs to a property that no resource has.
func TestThePolicyNamesEveryActionOfTheHandlers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		t.Fatal(err)
	}
	var p policy
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	kinds, err := Types(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	byType, err := permissions(t.Context(), root, kinds)
	if err != nil {
		t.Fatal(err)
	}
	for kind, actions := range byType {
		if len(actions) == 0 {
			t.Errorf("the schema of %s names no action", kind)
		}
		for _, action := range actions {
			named := slices.ContainsFunc(p.Statement, func(s statement) bool { return slices.Contains(s.Action, action) })
			if !named && !isLeft(action) {
				t.Errorf("%s needs %s, which the policy lacks", kind, action)
			}
		}
	}
	used := properties(t)
	for name, needing := range left {
		for _, property := range needing {
			if used[property] {
				t.Errorf("a resource has %s, for which CloudFormation needs %s", property, name)
			}
		}
	}
}

// properties are the names of all properties, at any depth, of the translated resources.
func properties(t *testing.T) map[string]bool {
	t.Helper()
	translated, err := sam.Translate(t.Context(), sam.Source{Root: root, Environment: "default"})
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, r := range cfn.Of(translated.Body).Resources {
		collect(r.Properties, used)
	}
	return used
}

func collect(v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			used[name] = true
			collect(inner, used)
		}
	case []any:
		for _, inner := range v {
			collect(inner, used)
		}
	}
}
