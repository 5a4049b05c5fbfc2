package bindings

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"
)

// released describes the parameters and outputs of a version's template, without its resources.
type released struct {
	version    string
	parameters []parameter // in the template's order
	outputs    []output
}

// parameter is a parameter of a template. Numbers are as the template writes them.
type parameter struct {
	Name           string   `yaml:"-"`
	Type           string   `yaml:"Type"`
	Description    string   `yaml:"Description"`
	Default        *string  `yaml:"Default"` // nil where a value has to be given
	AllowedValues  []string `yaml:"AllowedValues"`
	AllowedPattern string   `yaml:"AllowedPattern"`
	MinValue       *string  `yaml:"MinValue"`
	MaxValue       *string  `yaml:"MaxValue"`
	MaxLength      *string  `yaml:"MaxLength"`
}

// output is an output of a template.
type output struct {
	Name        string    `yaml:"-"`
	Description string    `yaml:"Description"`
	Condition   string    `yaml:"Condition"` // where it does not always exist
	Value       yaml.Node `yaml:"Value"`
}

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

// regional says whether the parameter is an ARN with a region, which has to be the stack's.
func (p parameter) regional() bool { return arnInRegion.MatchString(p.AllowedPattern) }

// parse reads the parameters and outputs of a template and of the additions that make package makes to it.
func parse(version string, texts ...string) (released, error) {
	r := released{version: version}
	for _, text := range texts {
		var sections struct {
			Parameters yaml.Node `yaml:"Parameters"`
			Outputs    yaml.Node `yaml:"Outputs"`
		}
		if err := yaml.Unmarshal([]byte(text), &sections); err != nil {
			return released{}, fmt.Errorf("reading: %w", err)
		}
		parameters, err := entries[parameter](sections.Parameters)
		if err != nil {
			return released{}, err
		}
		for i, name := range keys(sections.Parameters) {
			p := parameters[i]
			p.Name = name
			if err := p.check(); err != nil {
				return released{}, fmt.Errorf("parameter %s: %w", name, err)
			}
			r.parameters = append(r.parameters, p)
		}
		outputs, err := entries[output](sections.Outputs)
		if err != nil {
			return released{}, err
		}
		for i, name := range keys(sections.Outputs) {
			outputs[i].Name = name
			r.outputs = append(r.outputs, outputs[i])
		}
	}
	if len(r.parameters) == 0 || len(r.outputs) == 0 {
		return released{}, errors.New("the template has no parameters or no outputs")
	}
	return r, nil
}

func keys(mapping yaml.Node) (names []string) {
	for pair := range slices.Chunk(mapping.Content, 2) {
		names = append(names, pair[0].Value)
	}
	return names
}

// entries reads the values of a mapping, and refuses a property that T lacks: the code would leave it out.
func entries[T any](mapping yaml.Node) ([]T, error) {
	var all []T
	for pair := range slices.Chunk(mapping.Content, 2) {
		var one T
		known, err := yaml.Marshal(one)
		if err == nil {
			err = pair[1].Decode(&one)
		}
		var properties map[string]any
		if err == nil {
			err = yaml.Unmarshal(known, &properties)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", pair[0].Value, err)
		}
		for _, name := range keys(*pair[1]) {
			if _, ok := properties[name]; !ok {
				return nil, fmt.Errorf("%s has the property %s, which infra/install/bindings does not know",
					pair[0].Value, name)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// check refuses a parameter that the code could not express.
func (p parameter) check() error {
	switch {
	case p.Type != "String" && p.Type != "Number":
		return fmt.Errorf("infra/install/bindings does not know the type %q", p.Type)
	case p.Description == "":
		return errors.New("it has no description")
	}
	return nil
}
