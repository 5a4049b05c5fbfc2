package cfn

import (
	"fmt"
	"maps"
)

// Conditions evaluates a template's conditions under values of its parameters, as CloudFormation does.
type Conditions struct {
	Parameters map[string]string
	Named      Object // the template's section Conditions
}

// Choose makes of a template what CloudFormation makes of it with these values of its parameters: no resource, output
// or property with a condition that is false, and one branch of every Fn::If.
func Choose(whole Object, parameters map[string]string) (Object, error) {
	c := Conditions{Parameters: parameters, Named: At(whole, "Conditions")}
	whole = maps.Clone(whole)
	for _, section := range []string{"Resources", "Outputs"} {
		kept := Object{}
		for id, item := range At(whole, section) {
			holds, err := c.keeps(item)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			if !holds {
				continue
			}
			kept[id], err = c.choose(item)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
		}
		whole[section] = kept
	}
	return whole, nil
}

// keeps says whether a resource or an output has no condition, or one that holds.
func (c Conditions) keeps(item any) (bool, error) {
	all, _ := item.(Object)
	if name, ok := all["Condition"].(string); ok {
		return c.Hold(Object{"Condition": name})
	}
	return true, nil
}

// nothing is what a reference to AWS::NoValue leaves behind.
type nothing struct{}

func (c Conditions) choose(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		chosen := make([]any, 0, len(v))
		for _, item := range v {
			item, err := c.choose(item)
			if err != nil {
				return nil, err
			}
			if item != any(nothing{}) {
				chosen = append(chosen, item)
			}
		}
		return chosen, nil
	case Object:
		return c.chooseIn(v)
	}
	return v, nil
}

func (c Conditions) chooseIn(v Object) (any, error) {
	if branches, ok := v["Fn::If"].([]any); ok {
		holds, err := c.Hold(Object{"Condition": branches[0]})
		if err != nil {
			return nil, err
		}
		if holds {
			return c.choose(branches[1])
		}
		return c.choose(branches[2])
	}
	if v["Ref"] == "AWS::NoValue" {
		return nothing{}, nil
	}
	chosen := Object{}
	for name, item := range v {
		item, err := c.choose(item)
		if err != nil {
			return nil, err
		}
		if item != any(nothing{}) {
			chosen[name] = item
		}
	}
	return chosen, nil
}

// Hold evaluates a condition, or an assertion of a rule.
func (c Conditions) Hold(v any) (bool, error) {
	o, _ := v.(Object)
	for function, argument := range o {
		all, _ := argument.([]any)
		switch function {
		case "Condition":
			name, _ := argument.(string)
			if c.Named[name] == nil {
				return false, fmt.Errorf("no condition %v", argument)
			}
			return c.Hold(c.Named[name])
		case "Fn::Not":
			holds, err := c.Hold(all[0])
			return !holds, err
		case "Fn::And":
			return c.until(all, false)
		case "Fn::Or":
			return c.until(all, true)
		case "Fn::Equals":
			return c.equal(all[0], all[1])
		}
	}
	return false, fmt.Errorf("a condition that is not modelled: %v", v)
}

// until evaluates conditions up to the first that gives this value, and returns it, or else its opposite.
func (c Conditions) until(all []any, value bool) (bool, error) {
	for _, each := range all {
		holds, err := c.Hold(each)
		if err != nil || holds == value {
			return holds, err
		}
	}
	return !value, nil
}

func (c Conditions) equal(a, b any) (bool, error) {
	first, err := c.text(a)
	if err != nil {
		return false, err
	}
	second, err := c.text(b)
	return first == second, err
}

func (c Conditions) text(v any) (string, error) {
	o, ok := v.(Object)
	if !ok {
		return fmt.Sprint(v), nil
	}
	name, _ := o["Ref"].(string)
	value, known := c.Parameters[name]
	if !known && name == "AWS::Partition" { // that of AWS's commercial Regions, unless told otherwise
		return "aws", nil
	}
	if !known {
		return "", fmt.Errorf("not a parameter: %v", v)
	}
	return value, nil
}
