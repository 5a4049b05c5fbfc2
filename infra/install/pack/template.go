package main

import (
	_ "embed" // additions.yaml
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

//go:embed additions.yaml
var additions string

// shifted are the functions with gradual updates: an update may give their new versions traffic little by little.
var shifted = []string{"webhooks", "fanout", "deliver", "deadletter"}

// install turns template.yaml into one that takes the functions' code from a bucket, under keys by function.
func install(text []byte, version string, keys map[string]string) ([]byte, error) {
	root, err := cfn.Parse(text)
	if err != nil {
		return nil, err
	}
	more, err := cfn.Parse([]byte(additions))
	if err != nil {
		return nil, fmt.Errorf("additions: %w", err)
	}
	named := cfn.Child(root, "Outputs", "Product", "Value")
	if named == nil {
		return nil, errors.New("it has no output Product")
	}
	named.Value = "Herald " + version
	for _, section := range []string{"Parameters", "Conditions", "Resources"} {
		mapping := cfn.Child(root, section)
		if mapping == nil {
			return nil, fmt.Errorf("it has no %s", section)
		}
		mapping.Content = append(mapping.Content, cfn.Child(more, section).Content...)
	}
	if err := beat(root, catalogue.Types(), catalogue.Specified); err != nil {
		return nil, err
	}
	if err := guard(cfn.Child(root, "Resources")); err != nil {
		return nil, err
	}
	if err := pointToArchives(root, cfn.Child(more, "Shifted"), keys); err != nil {
		return nil, err
	}
	return cfn.Write(root)
}

// pointToArchives sets the code of every function to its archive, by the logical id, and adds properties to the shifted
// functions.
func pointToArchives(root, more *yaml.Node, keys map[string]string) error {
	globals := cfn.Child(root, "Globals", "Function")
	cfn.Remove(globals, "CodeUri")
	resources, functions := cfn.Child(root, "Resources"), 0
	for i := 0; i < len(resources.Content); i += 2 {
		id, resource := resources.Content[i].Value, resources.Content[i+1]
		if kind := cfn.Child(resource, "Type"); kind == nil || kind.Value != "AWS::Serverless::Function" {
			continue
		}
		properties := cfn.Child(resource, "Properties")
		if properties == nil {
			return fmt.Errorf("%s has no properties", id)
		}
		folder := strings.ToLower(strings.TrimSuffix(id, "Function"))
		if keys[folder] == "" {
			return fmt.Errorf("%s has no archive", id)
		}
		key := fmt.Sprintf(`!Sub "${CodeFolder}/%s"`, keys[folder])
		if slices.Contains(shifted, folder) {
			key = fmt.Sprintf("!Select [0, [%s%s]]", key, configuration(root, globals, properties))
			properties.Content = append(properties.Content, more.Content...)
		}
		code, err := cfn.Parse(fmt.Appendf(nil, "CodeUri: { Bucket: !Ref CodeBucket, Key: %s }", key))
		if err != nil {
			return fmt.Errorf("writing the code of %s: %w", id, err)
		}
		cfn.Remove(properties, "CodeUri")
		cfn.Remove(resource, "Metadata") // how sam builds it
		properties.Content = append(properties.Content, code.Content...)
		functions++
	}
	if functions != len(keys) {
		return fmt.Errorf("it has %d functions, and there are %d archives", functions, len(keys))
	}
	return nil
}
