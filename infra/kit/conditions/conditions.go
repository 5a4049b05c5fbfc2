// Package conditions applies the conditions of a template to values of its parameters, as CloudFormation does.
//
// It promises to know the functions that conditions have, and to fail at every other. It calls nothing.
package conditions

import (
	"fmt"
	"maps"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Under evaluates a template's conditions under values of its parameters, as CloudFormation does.
type Under struct {
	Parameters map[string]string
	Named      cfn.Object // the template's section Conditions
}

// Choose leaves of a template the parts that these values of its parameters choose: no resource, output
// or property with a condition that is false, and one branch of every Fn::If.
func Choose(whole cfn.Object, parameters map[string]string) (cfn.Object, error) {
	u := Under{Parameters: parameters, Named: cfn.At(whole, "Conditions")}
	whole = maps.Clone(whole)
	for _, section := range []string{"Resources", "Outputs"} {
		kept := cfn.Object{}
		for id, item := range cfn.At(whole, section) {
			holds, err := u.keeps(item)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			if !holds {
				continue
			}
			kept[id], err = u.choose(item)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
		}
		whole[section] = kept
	}
	return whole, nil
}

// keeps says whether a resource or an output has no condition, or one that holds.
func (u Under) keeps(item any) (bool, error) {
	all, _ := item.(cfn.Object)
	if name, ok := all["Condition"].(string); ok {
		return u.Hold(cfn.Object{"Condition": name})
	}
	return true, nil
}

// nothing stands for a reference to AWS::NoValue.
type nothing struct{}

func (u Under) choose(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		chosen := make([]any, 0, len(v))
		for _, item := range v {
			item, err := u.choose(item)
			if err != nil {
				return nil, err
			}
			if item != any(nothing{}) {
				chosen = append(chosen, item)
			}
		}
		return chosen, nil
	case cfn.Object:
		return u.chooseIn(v)
	}
	return v, nil
}

func (u Under) chooseIn(v cfn.Object) (any, error) {
	if branches, ok := v["Fn::If"].([]any); ok {
		holds, err := u.Hold(cfn.Object{"Condition": branches[0]})
		if err != nil {
			return nil, err
		}
		if holds {
			return u.choose(branches[1])
		}
		return u.choose(branches[2])
	}
	if v["Ref"] == "AWS::NoValue" {
		return nothing{}, nil
	}
	chosen := cfn.Object{}
	for name, item := range v {
		item, err := u.choose(item)
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
func (u Under) Hold(v any) (bool, error) {
	o, _ := v.(cfn.Object)
	for function, argument := range o {
		all, _ := argument.([]any)
		switch function {
		case "Condition":
			name, _ := argument.(string)
			if u.Named[name] == nil {
				return false, fmt.Errorf("no condition %v", argument)
			}
			return u.Hold(u.Named[name])
		case "Fn::Not":
			holds, err := u.Hold(all[0])
			return !holds, err
		case "Fn::And":
			return u.until(all, false)
		case "Fn::Or":
			return u.until(all, true)
		case "Fn::Equals":
			return u.equal(all[0], all[1])
		case "Fn::Contains":
			return u.contains(cfn.List(all[0]), all[1])
		}
	}
	return false, fmt.Errorf("a condition that is not modelled: %v", v)
}

// until evaluates conditions up to the first that gives this value, and returns it, or else its opposite.
func (u Under) until(all []any, value bool) (bool, error) {
	for _, each := range all {
		holds, err := u.Hold(each)
		if err != nil || holds == value {
			return holds, err
		}
	}
	return !value, nil
}

func (u Under) contains(all []any, one any) (bool, error) {
	for _, each := range all {
		holds, err := u.equal(each, one)
		if err != nil || holds {
			return holds, err
		}
	}
	return false, nil
}

func (u Under) equal(a, b any) (bool, error) {
	first, err := u.text(a)
	if err != nil {
		return false, err
	}
	second, err := u.text(b)
	return first == second, err
}

func (u Under) text(v any) (string, error) {
	o, ok := v.(cfn.Object)
	if !ok {
		return fmt.Sprint(v), nil
	}
	name, _ := o["Ref"].(string)
	value, known := u.Parameters[name]
	if usual := map[string]string{"AWS::Partition": "aws", "AWS::Region": "eu-central-1"}[name]; !known && usual != "" {
		return usual, nil
	}
	if !known {
		return "", fmt.Errorf("not a parameter: %v", v)
	}
	return value, nil
}
