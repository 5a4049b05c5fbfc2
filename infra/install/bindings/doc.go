// Package bindings writes source code for people who install Herald's template by Terraform or by AWS CDK: each
// parameter of the packaged template as a typed variable or property, each output as a typed value. For our own Go it
// writes the names of the parameters, as constants, and for readers a page of parameters and outputs.
//
// It promises that Terraform's and CDK's code has everything that the template says about a parameter (name, type,
// default, description, permitted values) and about an output. It refuses a template with a property that it would
// leave out. It writes no files.
package bindings

//go:generate go run ./generate -root ../../..

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Paths below the checkout.
const (
	template  = "template.yaml"
	additions = "infra/install/pack/additions.yaml" // of make package
	version   = "infra/install/pack/VERSION"

	variablesFile  = "infra/install/terraform/variables.tf"
	outputsFile    = "infra/install/terraform/outputs.tf"
	propertiesFile = "infra/install/cdk/template.ts"
	constantsFile  = "infra/kit/parameters/parameters.go"
	pageFile       = "infra/docs/parameters.md"
)

// Files are the generated files by their paths below the checkout.
func Files(root string) (map[string][]byte, error) {
	t, err := read(root)
	if err != nil {
		return nil, err
	}
	properties, err := properties(t)
	if err != nil {
		return nil, err
	}
	constants, err := constants(t)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		variablesFile: variables(t), outputsFile: outputs(t), propertiesFile: properties, constantsFile: constants,
		pageFile: page(t),
	}, nil
}

func read(root string) (released, error) {
	var texts [3]string
	for i, name := range []string{template, additions, version} {
		text, err := os.ReadFile(filepath.Join(root, name)) //nolint:gosec // the checkout's
		if err != nil {
			return released{}, fmt.Errorf("reading: %w", err)
		}
		texts[i] = string(text)
	}
	return parse(strings.TrimSpace(texts[2]), texts[0], texts[1])
}
