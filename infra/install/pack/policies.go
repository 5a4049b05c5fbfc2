package main

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// guard gives the policy of a shifted function to its alias and to each of its versions, since a policy belongs to one
// resource of Lambda's. An update replaces the policy of a version but retains the version, so the old policy has to be
// retained with it.
func guard(resources *yaml.Node) error {
	written := resources.Content
	for i := 0; i < len(written); i += 2 {
		id, policy := written[i].Value, written[i+1]
		if kind := cfn.Child(policy, "Type"); kind == nil || kind.Value != "AWS::Lambda::ResourcePolicy" {
			continue
		}
		arn := cfn.Child(policy, "Properties", "ResourceArn")
		if arn == nil {
			return fmt.Errorf("%s is of no function", id)
		}
		function, _, _ := strings.Cut(arn.Value, ".")
		alias, err := policyOf(policy, function+".Alias")
		if err != nil {
			return fmt.Errorf("copying %s: %w", id, err)
		}
		version, err := policyOf(policy, function+".Version")
		if err != nil {
			return fmt.Errorf("copying %s: %w", id, err)
		}
		version.Content = append(version.Content, scalar("DeletionPolicy"), scalar("Retain"),
			scalar("UpdateReplacePolicy"), scalar("Retain"))
		resources.Content = append(resources.Content, scalar(id+"OfAlias"), alias, scalar(id+"OfVersion"), version)
	}
	return nil
}

func scalar(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

// policyOf is a copy of a policy for the resource that SAM names FUNCTION.Alias or FUNCTION.Version.
func policyOf(policy *yaml.Node, name string) (*yaml.Node, error) {
	text, err := yaml.Marshal(policy)
	if err != nil {
		return nil, err
	}
	of, err := cfn.Parse(text)
	if err != nil {
		return nil, err
	}
	properties := cfn.Child(of, "Properties")
	statements := cfn.Child(properties, "PolicyDocument", "Statement")
	if statements == nil {
		return nil, errors.New("it has no statements")
	}
	arn := yaml.Node{Kind: yaml.ScalarNode, Tag: "!Ref", Value: name}
	*cfn.Child(properties, "ResourceArn") = arn
	for _, statement := range statements.Content {
		if resource := cfn.Child(statement, "Resource"); resource != nil {
			*resource = arn
		}
	}
	return of, nil
}
