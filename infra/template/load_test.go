// Package template holds the tests of template.yaml and samconfig.toml: rules of the deployed system
// that neither a linter nor the emulator knows (least privilege, retention, the arithmetic between
// parameters, an alarm for every bad day). They compare the template with the code and with itself, and
// never repeat its values. The tests of the translated template and of the alarms need the emulator, and
// carry its tag.
package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const root = "../.."

// object is a YAML mapping; intrinsic functions in short form have become their long form.
type object = map[string]any

// template is template.yaml.
type template struct {
	Parameters map[string]object
	Globals    object
	Rules      object
	Resources  map[string]resource
}

type resource struct {
	Type       string
	Properties object
	all        object
}

func load(t *testing.T) template {
	t.Helper()
	return read(t, filepath.Join(root, "template.yaml"))
}

func read(t *testing.T, file string) template {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	whole, ok := value(&node).(object)
	if !ok {
		t.Fatalf("%s is not a mapping", file)
	}
	return convert(t, whole)
}

func convert(t *testing.T, whole object) template {
	t.Helper()
	converted := template{Parameters: map[string]object{}, Resources: map[string]resource{}}
	converted.Globals, converted.Rules = at(whole, "Globals"), at(whole, "Rules")
	for name, p := range at(whole, "Parameters") {
		converted.Parameters[name] = p.(object)
	}
	for name, r := range at(whole, "Resources") {
		all := r.(object)
		kind, _ := all["Type"].(string)
		converted.Resources[name] = resource{Type: kind, Properties: at(all, "Properties"), all: all}
	}
	if len(converted.Resources) == 0 {
		t.Fatal("the template has no resources")
	}
	return converted
}

// value turns a node into what encoding/json would give for the long form of its intrinsic
// functions. Scalars stay text, except for booleans.
func value(n *yaml.Node) any {
	var plain any
	switch n.Kind {
	case yaml.DocumentNode:
		return value(n.Content[0])
	case yaml.MappingNode:
		m := object{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = value(n.Content[i+1])
		}
		plain = m
	case yaml.SequenceNode:
		s := make([]any, len(n.Content))
		for i, item := range n.Content {
			s[i] = value(item)
		}
		plain = s
	default:
		plain = n.Value
		if n.Tag == "!!bool" {
			plain = n.Value == "true"
		}
	}
	switch name, short := strings.CutPrefix(n.Tag, "!"); {
	case !short || strings.HasPrefix(name, "!"):
		return plain
	case name == "Ref" || name == "Condition":
		return object{name: plain}
	case name == "GetAtt" && n.Kind == yaml.ScalarNode:
		logical, attribute, _ := strings.Cut(n.Value, ".")
		return object{"Fn::GetAtt": []any{logical, attribute}}
	default:
		return object{"Fn::" + name: plain}
	}
}

// at walks down mappings; where there is none it answers an empty one.
func at(from object, path ...string) object {
	for _, name := range path {
		from, _ = from[name].(object)
	}
	return from
}

func (tpl template) ofType(kind string) map[string]resource {
	found := maps.Clone(tpl.Resources)
	maps.DeleteFunc(found, func(_ string, r resource) bool { return r.Type != kind })
	return found
}

func list(v any) []any {
	if s, ok := v.([]any); ok {
		return s
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

var logStream = regexp.MustCompile(`:log-group:\$\{(\w+)\}:log-stream:(\w+)$`)

// target is the logical id behind a Ref, a GetAtt or a Sub of one name.
func target(v any) string {
	o, _ := v.(object)
	if ref, ok := o["Ref"].(string); ok {
		return ref
	}
	if get, ok := o["Fn::GetAtt"].([]any); ok {
		return fmt.Sprint(get[0])
	}
	sub, _ := o["Fn::Sub"].(string)
	if stream := logStream.FindStringSubmatch(sub); stream != nil {
		return stream[1]
	}
	if strings.HasPrefix(sub, "${") {
		name, _, _ := strings.Cut(sub[2:], "}")
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	return ""
}

// settings are the values of all parameters in one configuration.
type settings map[string]string

func (s settings) number(t *testing.T, name string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s[name], 64)
	if err != nil {
		t.Fatalf("parameter %s: %v", name, err)
	}
	return n
}

var assignment = regexp.MustCompile(`(?m)^ *"(\w+)=(.*)"`)

// configurations are the parameters by environment of samconfig.toml.
func configurations(t *testing.T, tpl template) map[string]settings {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]settings{}
	for section := range strings.SplitSeq(string(text), "\n[") {
		environment, given, deploys := strings.Cut(section, ".deploy.parameters]")
		if !deploys {
			continue
		}
		s := settings{}
		for name, p := range tpl.Parameters {
			s[name] = fmt.Sprint(p["Default"])
		}
		for _, match := range assignment.FindAllStringSubmatch(given, -1) {
			if tpl.Parameters[match[1]] == nil {
				t.Errorf("samconfig.toml, %s: the template has no parameter %s", environment, match[1])
			}
			s[match[1]] = match[2]
		}
		all[environment] = s
	}
	return all
}
