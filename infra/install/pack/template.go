package main

import (
	"bytes"
	_ "embed" // additions.yaml
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

//go:embed additions.yaml
var additions string

// shifted are the functions with gradual updates: an update may give their new versions traffic little by little.
var shifted = []string{"webhooks", "fanout", "deliver", "deadletter"}

// install turns template.yaml into one that takes the functions' code from a bucket, under keys by function.
func install(text []byte, version string, keys map[string]string) ([]byte, error) {
	var document, more yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	if err := yaml.Unmarshal([]byte(additions), &more); err != nil {
		return nil, fmt.Errorf("reading additions: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, errors.New("it is empty")
	}
	plain := cfn.Plain(&document)
	root := plain.Content[0]
	named := child(child(child(root, "Outputs"), "Product"), "Value")
	if named == nil {
		return nil, errors.New("it has no output Product")
	}
	named.Value = "Herald " + version
	for _, section := range []string{"Parameters", "Conditions", "Resources"} {
		mapping := child(root, section)
		if mapping == nil {
			return nil, fmt.Errorf("it has no %s", section)
		}
		mapping.Content = append(mapping.Content, child(more.Content[0], section).Content...)
	}
	if err := guard(child(root, "Resources")); err != nil {
		return nil, err
	}
	if err := pointToArchives(root, child(more.Content[0], "Shifted"), keys); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(plain), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing: %w", err)
	}
	return b.Bytes(), nil
}

// pointToArchives sets the code of every function to its archive, by the logical id, and adds properties to the shifted
// functions.
func pointToArchives(root, more *yaml.Node, keys map[string]string) error {
	globals := child(child(root, "Globals"), "Function")
	remove(globals, "CodeUri")
	resources, functions := child(root, "Resources"), 0
	for i := 0; i < len(resources.Content); i += 2 {
		id, resource := resources.Content[i].Value, resources.Content[i+1]
		if kind := child(resource, "Type"); kind == nil || kind.Value != "AWS::Serverless::Function" {
			continue
		}
		properties := child(resource, "Properties")
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
		var code yaml.Node
		if err := yaml.Unmarshal(fmt.Appendf(nil, "CodeUri: { Bucket: !Ref CodeBucket, Key: %s }", key), &code); err != nil {
			return fmt.Errorf("writing the code of %s: %w", id, err)
		}
		remove(properties, "CodeUri")
		remove(resource, "Metadata") // how sam builds it
		properties.Content = append(properties.Content, code.Content[0].Content...)
		functions++
	}
	if functions != len(keys) {
		return fmt.Errorf("it has %d functions, and there are %d archives", functions, len(keys))
	}
	return nil
}

// child is the value under a key of a mapping, or nil.
func child(mapping *yaml.Node, key string) *yaml.Node {
	if i := index(mapping, key); i >= 0 {
		return mapping.Content[i+1]
	}
	return nil
}

func remove(mapping *yaml.Node, key string) {
	if i := index(mapping, key); i >= 0 {
		mapping.Content = slices.Delete(mapping.Content, i, i+2)
	}
}

func index(mapping *yaml.Node, key string) int {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}
