package docs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/install/bindings"
)

// A change to a parameter or an output of the template has to reach Terraform and CDK, too.
func TestTheBindingsOfTheTemplateAreGenerated(t *testing.T) {
	files, err := bindings.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if diff := cmp.Diff(string(want), readFile(t, path)); diff != "" {
			t.Errorf("%s is not of this template: run go generate ./infra/install/bindings (-generated +committed):\n%s",
				path, diff)
		}
	}
}
