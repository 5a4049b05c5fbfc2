package sam

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// deployable are the resource types that the emulator's CloudFormation makes. With any other one in the
// template it still claims success, but then fails when it is asked to describe the stack.
var deployable = map[string]bool{
	"AWS::DynamoDB::Table":            true,
	"AWS::IAM::ManagedPolicy":         true,
	"AWS::IAM::Policy":                true,
	"AWS::IAM::Role":                  true,
	"AWS::KMS::Alias":                 true,
	"AWS::KMS::Key":                   true,
	"AWS::Lambda::EventSourceMapping": true,
	"AWS::Lambda::Function":           true,
	"AWS::Lambda::Permission":         true,
	"AWS::Lambda::Version":            true,
	"AWS::Logs::LogGroup":             true,
	"AWS::SNS::Topic":                 true,
	"AWS::SQS::Queue":                 true,
}

// dependent are the types that go with a resource they refer to.
var dependent = map[string]bool{"AWS::Lambda::Permission": true}

// Deployable takes out of a copy of the template what the emulator does not know, and returns it
// with the logical ids, by type, of what it took out.
func (t *Template) Deployable() (body map[string]any, removed map[string][]string, err error) {
	rest, gone, removed := maps.Clone(t.resources()), map[string]bool{}, map[string][]string{}
	for id, r := range rest {
		kind := typeOf(r)
		if !deployable[kind] {
			delete(rest, id)
			gone[id] = true
			removed[kind] = append(removed[kind], id)
		}
	}
	for id, r := range rest {
		missing := refersTo(r, gone)
		if missing == "" {
			continue
		}
		if !dependent[typeOf(r)] {
			return nil, nil, fmt.Errorf("%s refers to %s, which the AWS emulator cannot deploy", id, missing)
		}
		delete(rest, id)
		removed[typeOf(r)] = append(removed[typeOf(r)], id)
	}
	body = maps.Clone(t.Body)
	body["Resources"] = rest
	outputs, _ := body["Outputs"].(map[string]any)
	outputs = maps.Clone(outputs)
	maps.DeleteFunc(outputs, func(_ string, output any) bool { return refersTo(output, gone) != "" })
	body["Outputs"] = outputs
	for _, ids := range removed {
		slices.Sort(ids)
	}
	return body, removed, nil
}

func typeOf(resource any) string {
	fields, _ := resource.(map[string]any)
	kind, _ := fields["Type"].(string)
	return kind
}

var placeholder = regexp.MustCompile(`\$\{([A-Za-z0-9]+)(\.[^}]*)?\}`)

// refersTo returns a logical id of the set that value refers to, or "".
func refersTo(value any, ids map[string]bool) string {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if id := refersTo(item, ids); id != "" {
				return id
			}
		}
	case map[string]any:
		for key, item := range v {
			if id := reference(key, item, ids); id != "" {
				return id
			}
		}
	}
	return ""
}

// reference looks at one field: an intrinsic function, DependsOn, or something to search.
func reference(key string, value any, ids map[string]bool) string {
	switch key {
	case "Ref", "DependsOn":
		if id, ok := value.(string); ok && ids[id] {
			return id
		}
	case "Fn::GetAtt":
		if id, _, _ := strings.Cut(text(value), "."); ids[id] {
			return id
		}
	case "Fn::Sub":
		for _, found := range placeholder.FindAllStringSubmatch(text(value), -1) {
			if ids[found[1]] {
				return found[1]
			}
		}
	}
	return refersTo(value, ids)
}

// text is the argument of an intrinsic function that takes a string, or a list that starts with one.
func text(value any) string {
	if parts, ok := value.([]any); ok && len(parts) > 0 {
		value = parts[0]
	}
	s, _ := value.(string)
	return s
}
