package template

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// choose makes of a template what CloudFormation makes of it under these settings: no resource, output or
// property whose condition is false.
func (s settings) choose(t *testing.T, whole object) object {
	t.Helper()
	c := conditions{t: t, settings: s, all: at(whole, "Conditions")}
	whole = maps.Clone(whole)
	for _, section := range []string{"Resources", "Outputs"} {
		kept := object{}
		for id, item := range at(whole, section) {
			if name, ok := item.(object)["Condition"].(string); !ok || c.holds(object{"Condition": name}) {
				kept[id] = c.choose(item)
			}
		}
		whole[section] = kept
	}
	return whole
}

type conditions struct {
	t        *testing.T
	settings settings
	all      object
}

// nothing is what a reference to AWS::NoValue leaves behind.
type nothing struct{}

// choose walks through a value and takes one branch of every Fn::If.
func (c conditions) choose(v any) any {
	switch v := v.(type) {
	case []any:
		chosen := make([]any, 0, len(v))
		for _, item := range v {
			if item = c.choose(item); item != (nothing{}) {
				chosen = append(chosen, item)
			}
		}
		return chosen
	case object:
		if branches, ok := v["Fn::If"].([]any); ok {
			if c.holds(object{"Condition": branches[0]}) {
				return c.choose(branches[1])
			}
			return c.choose(branches[2])
		}
		if v["Ref"] == "AWS::NoValue" {
			return nothing{}
		}
		chosen := object{}
		for name, item := range v {
			if item = c.choose(item); item != any(nothing{}) {
				chosen[name] = item
			}
		}
		return chosen
	}
	return v
}

// holds evaluates a condition, or an assertion of a rule.
func (c conditions) holds(v any) bool {
	c.t.Helper()
	o, _ := v.(object)
	for function, argument := range o {
		all, _ := argument.([]any)
		switch function {
		case "Condition":
			name, _ := argument.(string)
			if c.all[name] == nil {
				c.t.Fatalf("no condition %v", argument)
			}
			return c.holds(c.all[name])
		case "Fn::Not":
			return !c.holds(all[0])
		case "Fn::And":
			return !slices.ContainsFunc(all, func(each any) bool { return !c.holds(each) })
		case "Fn::Or":
			return slices.ContainsFunc(all, c.holds)
		case "Fn::Equals":
			return c.text(all[0]) == c.text(all[1])
		}
	}
	c.t.Fatalf("a condition that is not modelled: %v", v)
	return false
}

func (c conditions) text(v any) string {
	c.t.Helper()
	if o, ok := v.(object); ok {
		name, _ := o["Ref"].(string)
		value, known := c.settings[name]
		if !known {
			c.t.Fatalf("not a parameter: %v", v)
		}
		return value
	}
	return fmt.Sprint(v)
}
