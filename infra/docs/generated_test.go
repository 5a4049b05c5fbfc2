package docs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/install/bindings"
	"github.com/herald-webhooks/herald/infra/install/shapes"
	"github.com/herald-webhooks/herald/infra/install/threats"
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

// A field and a reason have one name and one meaning, and a threat is said where its test is.
func TestTheTablesAreGenerated(t *testing.T) {
	lines := func(text string) []string { return strings.Split(text, "\n") }
	for document, by := range map[string]struct {
		name string
		made func(root string) ([]byte, error)
	}{
		shapes.Document:  {"shapes", shapes.With},
		shapes.Runbook:   {"shapes", shapes.WithRunbook},
		threats.Document: {"threats", threats.With},
	} {
		want, err := by.made(root)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(string(want)), lines(readFile(t, document))); diff != "" {
			t.Errorf("%s: run go generate ./infra/install/%s (-generated +committed):\n%s", document, by.name, diff)
		}
	}
}
