package cfn

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// value reads a node.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := Object{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = value(n.Content[i+1])
		}
		return long(n, m)
	case yaml.SequenceNode:
		s := make([]any, len(n.Content))
		for i, item := range n.Content {
			s[i] = value(item)
		}
		return long(n, s)
	}
	if n.Tag == "!!bool" {
		return n.Value == "true"
	}
	return long(n, n.Value)
}

// long is the long form of an intrinsic function, or the plain value of another node.
func long(n *yaml.Node, plain any) any {
	name, short := strings.CutPrefix(n.Tag, "!")
	switch {
	case !short || strings.HasPrefix(name, "!"):
		return plain
	case name == "Ref" || name == "Condition":
		return Object{name: plain}
	case name == "GetAtt" && n.Kind == yaml.ScalarNode:
		logical, attribute, _ := strings.Cut(n.Value, ".")
		return Object{"Fn::GetAtt": []any{logical, attribute}}
	}
	return Object{"Fn::" + name: plain}
}
