package docs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/install/bindings"
	"github.com/herald-webhooks/herald/infra/install/shapes"
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

// A field has one name and one meaning: those that the functions' own types have.
func TestTheFieldsOfOperatorsAreGenerated(t *testing.T) {
	want, err := shapes.With(root)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text string) []string { return strings.Split(text, "\n") }
	if diff := cmp.Diff(lines(string(want)), lines(readFile(t, shapes.Document))); diff != "" {
		t.Errorf("%s: run go generate ./infra/install/shapes (-generated +committed):\n%s", shapes.Document, diff)
	}
}
