//go:build emulator

package template

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// edition is a translated template, with its conditions, and what the registry says about its types.
type edition struct {
	template
	outputs object
	schemas map[string]registered
}

// registered has paths of a type: the properties that no update can change, and those by which AWS knows a resource.
type registered struct{ CreateOnly, Identity []string }

// kept are the types of which a resource may neither go nor become another one: they hold data, others have their names
// or ARNs, or they are attached by hand. The service control policy of security.md names roles by their logical ids.
var kept = []string{
	"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::DomainName", "AWS::DynamoDB::Table", "AWS::Events::EventBus",
	"AWS::IAM::ManagedPolicy", "AWS::IAM::Role", "AWS::KMS::Key", "AWS::Lambda::Alias", "AWS::Lambda::Function",
	"AWS::Logs::LogGroup", "AWS::SQS::Queue",
}

// frozen are properties that no update may change, beside those that the registry calls create-only. KMS refuses such
// an update.
var frozen = map[string][]string{
	"AWS::KMS::Key": {"/properties/KeySpec", "/properties/KeyUsage", "/properties/MultiRegion", "/properties/Origin"},
}

// knownBy are the identities of types whose ids AWS chooses. A queue, for example, has one policy.
var knownBy = map[string][]string{
	"AWS::ApiGatewayV2::ApiMapping":              {"/properties/DomainName", "/properties/ApiMappingKey"},
	"AWS::ApplicationAutoScaling::ScalingPolicy": {"/properties/PolicyName", "/properties/ScalingTargetId"},
	"AWS::IAM::ManagedPolicy":                    {"/properties/ManagedPolicyName"},
	"AWS::IAM::Policy":                           {"/properties/PolicyName", "/properties/Roles"},
	"AWS::Lambda::Alias":                         {"/properties/FunctionName", "/properties/Name"},
	"AWS::Lambda::EventSourceMapping":            {"/properties/EventSourceArn", "/properties/FunctionName"},
	"AWS::SQS::Queue":                            {"/properties/QueueName"},
	"AWS::SQS::QueuePolicy":                      {"/properties/Queues"},
}

// breaks are the reasons for which an update from one release to the next would cut somebody off.
func breaks(from, to edition) (all []string) {
	for id, old := range from.Resources {
		next := to.Resources[id]
		if slices.Contains(kept, old.Type) && (next.Type != old.Type || !asOften(old, from, next, to)) {
			all = append(all, fmt.Sprintf("%s, of type %s, is gone, or has another type or condition", id, old.Type))
			continue
		}
		if next.Type != old.Type {
			continue
		}
		for _, path := range slices.Concat(to.schemas[old.Type].CreateOnly, frozen[old.Type]) {
			if !reflect.DeepEqual(property(old.Properties, path), property(next.Properties, path)) {
				all = append(all, fmt.Sprintf("%s is replaced: %s differs", id, path))
			}
		}
		if old.Type == "AWS::DynamoDB::Table" {
			all = append(all, indexes(id, old.Properties, next.Properties)...)
			all = append(all, attributes(id, old.Properties, next.Properties)...)
		}
		if old.Type == "AWS::ApiGatewayV2::Stage" {
			all = append(all, routes(id, old, to)...)
		}
	}
	return slices.Concat(all, taken(from, to), surface(from, to))
}

// asOften says whether a stack that has a resource has it after the update, too. A condition may go.
func asOften(old resource, from edition, next resource, to edition) bool {
	name, has := next.All["Condition"].(string)
	return !has || name == old.All["Condition"] && reflect.DeepEqual(from.Conditions[name], to.Conditions[name])
}

// taken: CloudFormation creates a resource before it deletes the one that it takes the place of. What AWS knows by its
// name, or by what it belongs to, cannot move to another logical id: the creation fails, or the deletion ends both.
func taken(from, to edition) (all []string) {
	for id, next := range to.Resources {
		if from.Resources[id].Type != "" {
			continue
		}
		for other, old := range from.Resources {
			if old.Type != next.Type {
				continue
			}
			if identity := slices.Concat(knownBy[next.Type], to.schemas[next.Type].Identity); isOne(identity, old, next) {
				all = append(all, fmt.Sprintf("%s and %s are one to AWS", id, other))
			}
		}
	}
	return all
}

// isOne says whether two resources have the same identity. One without any gets a name from CloudFormation.
func isOne(identity []string, old, next resource) bool {
	given := false
	for _, path := range identity {
		value := property(next.Properties, path)
		if !reflect.DeepEqual(property(old.Properties, path), value) {
			return false
		}
		given = given || value != nil
	}
	return given
}

// property is the value at a path of a schema, such as /properties/Budget/BudgetName.
func property(properties object, path string) any {
	names := strings.Split(strings.TrimPrefix(path, "/properties/"), "/")
	last := len(names) - 1
	return at(properties, names[:last]...)[names[last]]
}

// indexes: DynamoDB makes or removes one index of a table in an update, and changes none. A changed one would be both.
func indexes(id string, old, next object) (all []string) {
	before, after := indexesOf(old), indexesOf(next)
	changes := 0
	for name, index := range before {
		switch other, stays := after[name]; {
		case !stays:
			changes++
		case !reflect.DeepEqual(index["KeySchema"], other["KeySchema"]),
			!reflect.DeepEqual(index["Projection"], other["Projection"]):
			all = append(all, fmt.Sprintf("%s: the index %s is changed under its name", id, name))
		}
	}
	for name := range after {
		if before[name] == nil {
			changes++
		}
	}
	if changes > 1 {
		all = append(all, fmt.Sprintf("%s: %d indexes are added or removed", id, changes))
	}
	return all
}

// attributes: an attribute of a key has the type that stored items have. DynamoDB refuses another time to live while a
// table has one.
func attributes(id string, old, next object) (all []string) {
	typed := map[any]any{}
	for _, one := range list(old["AttributeDefinitions"]) {
		attribute, _ := one.(object)
		typed[attribute["AttributeName"]] = attribute["AttributeType"]
	}
	for _, one := range list(next["AttributeDefinitions"]) {
		attribute, _ := one.(object)
		if was := typed[attribute["AttributeName"]]; was != nil && was != attribute["AttributeType"] {
			all = append(all, fmt.Sprintf("%s: the attribute %s has another type", id, attribute["AttributeName"]))
		}
	}
	const ends = "/properties/TimeToLiveSpecification/AttributeName"
	if was, now := property(old, ends), property(next, ends); was != nil && now != nil && was != now {
		all = append(all, fmt.Sprintf("%s: the time to live is in another attribute", id))
	}
	return all
}

func indexesOf(table object) map[string]object {
	named := map[string]object{}
	for _, one := range list(table["GlobalSecondaryIndexes"]) {
		index, _ := one.(object)
		named[fmt.Sprint(index["IndexName"])] = index
	}
	return named
}

// routes: API Gateway refuses to remove a route while the stage has settings for it, and the API is updated before its
// stage. So the settings go a release earlier.
func routes(id string, old resource, to edition) (all []string) {
	api := to.Resources[target(old.Properties["ApiId"])].Properties
	for route := range at(old.Properties, "RouteSettings") {
		method, path, _ := strings.Cut(route, " ")
		if at(api, "Body", "paths", path)[strings.ToLower(method)] == nil {
			all = append(all, fmt.Sprintf("%s: the route %s has settings, and is removed", id, route))
		}
	}
	return all
}

// surface: those who deploy name parameters and read outputs.
func surface(from, to edition) (all []string) {
	for name, p := range from.Parameters {
		next := to.Parameters[name]
		if next == nil {
			all = append(all, "the parameter "+name+" is gone")
			continue
		}
		all = append(all, narrowed(name, p, next)...)
	}
	for name, p := range to.Parameters {
		if from.Parameters[name] == nil && p["Default"] == nil {
			all = append(all, "the parameter "+name+" is new, and has no default")
		}
	}
	for name := range maps.Keys(from.outputs) {
		if to.outputs[name] == nil {
			all = append(all, "the output "+name+" is gone")
		}
	}
	return all
}

// narrowed: a stack keeps the values of its parameters in an update, and the next template has to take them. Whether
// another AllowedPattern does, a test cannot tell.
func narrowed(name string, old, next object) (all []string) {
	for _, value := range list(old["AllowedValues"]) {
		if !slices.Contains(list(next["AllowedValues"]), value) && next["AllowedValues"] != nil {
			all = append(all, fmt.Sprintf("the parameter %s no longer takes %v", name, value))
		}
	}
	if old["Type"] != next["Type"] || old["AllowedValues"] == nil && next["AllowedValues"] != nil {
		all = append(all, fmt.Sprintf("the parameter %s has another type, or a list of values", name))
	}
	for bound, sign := range map[string]float64{"MinValue": 1, "MinLength": 1, "MaxValue": -1, "MaxLength": -1} {
		was, bounded := old[bound].(float64)
		now, bounds := next[bound].(float64)
		if bounds && (!bounded || sign*now > sign*was) {
			all = append(all, fmt.Sprintf("the parameter %s has a narrower %s", name, bound))
		}
	}
	return all
}
