package template

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// account and place are those of a deployment that the tests make up.
const account, place = "111122223333", "eu-central-1"

// arns are how AWS names resources, by their type; NAME stands for the logical id.
var arns = map[string]string{
	"AWS::DynamoDB::Table":  "arn:aws:dynamodb:" + place + ":" + account + ":table/NAME",
	"AWS::Events::EventBus": "arn:aws:events:" + place + ":" + account + ":event-bus/NAME",
	"AWS::IAM::Role":        "arn:aws:iam::" + account + ":role/NAME",
	"AWS::KMS::Key":         "arn:aws:kms:" + place + ":" + account + ":key/NAME",
	"AWS::Lambda::Function": "arn:aws:lambda:" + place + ":" + account + ":function:NAME",
	"AWS::Logs::LogGroup":   "arn:aws:logs:" + place + ":" + account + ":log-group:NAME:*",
	"AWS::SQS::Queue":       "arn:aws:sqs:" + place + ":" + account + ":NAME",
}

// arn is the ARN of a resource of the template.
func arn(tpl template, id string) string {
	return strings.Replace(arns[tpl.Resources[id].Type], "NAME", id, 1)
}

var placeholder = regexp.MustCompile(`\$\{([^}!]+)\}`)

// named writes a value without intrinsic functions: every resource has its logical id for a name.
func (s settings) named(tpl template, v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = s.named(tpl, item)
		}
		return all
	case object:
		return s.namedIn(tpl, v)
	}
	return v
}

func (s settings) namedIn(tpl template, v object) any {
	if ref, ok := v["Ref"].(string); ok {
		return s.ref(ref)
	}
	if get := list(v["Fn::GetAtt"]); len(get) == 2 {
		return arn(tpl, fmt.Sprint(get[0]))
	}
	if split := list(v["Fn::Split"]); len(split) == 2 {
		return anys(strings.Split(fmt.Sprint(s.named(tpl, split[1])), fmt.Sprint(split[0])))
	}
	if sub := list(v["Fn::Sub"]); len(sub) > 0 {
		known := object{}
		if len(sub) == 2 {
			known = at(object{"given": sub[1]}, "given")
		}
		return placeholder.ReplaceAllStringFunc(fmt.Sprint(sub[0]), func(p string) string {
			name := p[2 : len(p)-1]
			if value, ok := known[name]; ok {
				return fmt.Sprint(s.named(tpl, value))
			}
			if id, ok := strings.CutSuffix(name, ".Arn"); ok {
				return arn(tpl, id)
			}
			return s.ref(name)
		})
	}
	all := maps.Clone(v)
	for name, item := range all {
		all[name] = s.named(tpl, item)
	}
	return all
}

func anys[T any](all []T) []any {
	some := make([]any, len(all))
	for i, one := range all {
		some[i] = one
	}
	return some
}

// ref is the value of a parameter or pseudo parameter, or the name of a resource.
func (s settings) ref(name string) string {
	pseudo := map[string]string{
		"AWS::AccountId": account, "AWS::Partition": "aws", "AWS::Region": place, "AWS::StackName": "herald-prod",
	}
	if value, ok := pseudo[name]; ok {
		return value
	}
	if value, ok := s[name]; ok {
		return value
	}
	return name
}
