package bindings

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// released describes the parameters and outputs of a version's template, without its resources.
type released struct {
	version    string
	parameters []parameter // in the template's order
	outputs    []cfn.Output
}

// parameter is a parameter of a template as the generated code has it.
type parameter struct{ cfn.Parameter }

// kind is the type of a parameter in other languages.
type kind int

const (
	text kind = iota
	number
	boolean
)

func (p parameter) kind() kind {
	allowed := slices.Sorted(slices.Values(p.AllowedValues))
	switch {
	case p.Type == "Number":
		return number
	case slices.Equal(allowed, []string{"false", "true"}):
		return boolean
	}
	return text
}

var arnInRegion = regexp.MustCompile(`^\(?arn:\[a-z-\]\+:[a-z0-9-]+:\[a-z0-9-\]\+:`)

// regional says whether the parameter is an ARN with a region, which has to be the stack's. Those of a list may have
// several.
func (p parameter) regional() bool {
	return arnInRegion.MatchString(p.AllowedPattern) && !strings.Contains(p.AllowedPattern, "(,")
}

// parse reads the parameters and outputs of a template and of the additions that make package makes to it.
func parse(version string, texts ...string) (released, error) {
	r := released{version: version}
	for _, text := range texts {
		root, err := cfn.Parse([]byte(text))
		if err != nil {
			return released{}, err
		}
		parameters, err := cfn.Parameters(root)
		if err != nil {
			return released{}, err
		}
		for _, p := range parameters {
			if err := check(p); err != nil {
				return released{}, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			r.parameters = append(r.parameters, parameter{p})
		}
		outputs, err := cfn.Outputs(root)
		if err != nil {
			return released{}, err
		}
		r.outputs = append(r.outputs, outputs...)
	}
	if len(r.parameters) == 0 || len(r.outputs) == 0 {
		return released{}, errors.New("the template has no parameters or no outputs")
	}
	return r, nil
}

// check refuses a parameter that the code could not express.
func check(p cfn.Parameter) error {
	switch {
	case p.Type != "String" && p.Type != "Number":
		return fmt.Errorf("infra/install/bindings does not know the type %q", p.Type)
	case p.Description == "":
		return errors.New("it has no description")
	}
	return nil
}
