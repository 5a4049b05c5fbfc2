package cfn

import (
	"bytes"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Parameter is a parameter of a template. Numbers are as the template writes them.
type Parameter struct {
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

// Output is an output of a template.
type Output struct {
	Name        string    `yaml:"-"`
	Description string    `yaml:"Description"`
	Condition   string    `yaml:"Condition"` // where it does not always exist
	Value       yaml.Node `yaml:"Value"`
}

// Parameters are a template's, in its order. A property that [Parameter] lacks is an error.
func Parameters(root *yaml.Node) ([]Parameter, error) {
	return entries(Child(root, "Parameters"), func(p *Parameter, name string) { p.Name = name })
}

// Outputs are a template's, in its order. A property that [Output] lacks is an error.
func Outputs(root *yaml.Node) ([]Output, error) {
	return entries(Child(root, "Outputs"), func(o *Output, name string) { o.Name = name })
}

func entries[T any](section *yaml.Node, named func(*T, string)) (all []T, err error) {
	if section == nil {
		return nil, nil
	}
	for pair := range slices.Chunk(section.Content, 2) {
		text, err := yaml.Marshal(pair[1])
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		var entry T
		if err == nil {
			err = decoder.Decode(&entry)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", pair[0].Value, err)
		}
		named(&entry, pair[0].Value)
		all = append(all, entry)
	}
	return all, nil
}
