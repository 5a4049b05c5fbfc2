package template

import (
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/conditions"
)

// choose resolves a template's conditions under these settings, as CloudFormation does.
func (s settings) choose(t *testing.T, whole object) object {
	t.Helper()
	chosen, err := conditions.Choose(whole, s)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// holds evaluates a condition, or an assertion of a rule, under these settings.
func (s settings) holds(t *testing.T, condition any) bool {
	t.Helper()
	holds, err := conditions.Under{Parameters: s}.Hold(condition)
	if err != nil {
		t.Fatal(err)
	}
	return holds
}
