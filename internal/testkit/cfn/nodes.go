package cfn

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Parse reads a template as the mapping of its sections.
func Parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, errors.New("reading the template: it is empty")
	}
	return plain(document.Content[0]), nil
}

// Write is the text of a template.
func Write(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(root), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing the template: %w", err)
	}
	return b.Bytes(), nil
}

// Child is the value below keys of mappings, or nil.
func Child(mapping *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		i := index(mapping, key)
		if i < 0 {
			return nil
		}
		mapping = mapping.Content[i+1]
	}
	return mapping
}

// Remove removes a key of a mapping, if it is there, and its value.
func Remove(mapping *yaml.Node, key string) {
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

// plain returns a copy of a node in which aliases and merges ("<<") are written out, as CloudFormation needs it.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return plain(n.Alias)
	}
	written := *n
	written.Anchor, written.Content = "", make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		written.Content[i] = plain(item)
	}
	if n.Kind == yaml.MappingNode {
		written.Content = merged(written.Content)
	}
	return &written
}

// merged replaces merges in the keys and values of a mapping. Its own keys win, then those that are merged in first.
func merged(content []*yaml.Node) (all []*yaml.Node) {
	taken := map[string]bool{}
	for pair := range slices.Chunk(content, 2) {
		taken[pair[0].Value] = true
	}
	for pair := range slices.Chunk(content, 2) {
		if pair[0].Tag != "!!merge" {
			all = append(all, pair...)
			continue
		}
		sources := pair[1:]
		if pair[1].Kind == yaml.SequenceNode {
			sources = pair[1].Content
		}
		for _, source := range sources {
			for more := range slices.Chunk(source.Content, 2) {
				if !taken[more[0].Value] {
					taken[more[0].Value] = true
					all = append(all, more...)
				}
			}
		}
	}
	return all
}
