package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/conditions"
	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// deployed is a stack that CloudFormation made.
type deployed struct {
	names  map[string]string // physical names by logical id
	values map[string]string // outputs
}

// look reads a stack.
func look(ctx context.Context, e *engine, stack string) (*deployed, map[string]string, error) {
	cloud := cloudformation.NewFromConfig(e.config())
	answer, err := cloud.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &stack})
	if err != nil || len(answer.Stacks) != 1 {
		return nil, nil, fmt.Errorf("describing the stack: %d found: %w", len(answer.Stacks), err)
	}
	d, parameters := &deployed{values: map[string]string{}}, map[string]string{}
	for _, output := range answer.Stacks[0].Outputs {
		d.values[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
	}
	for _, p := range answer.Stacks[0].Parameters {
		parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	d.names, err = client.Names(ctx, cloud, stack)
	return d, parameters, err
}

// expected is the template after AWS's own translator, with these parameters. CloudFormation should make the same of
// it. The translator reads a stack's parameters as CloudFormation reports them.
func expected(ctx context.Context, root, template string, parameters map[string]string) (cfn.Template, error) {
	var given []string
	for name, value := range parameters {
		given = append(given, name+"="+value)
	}
	slices.Sort(given)
	translated, err := sam.Translate(ctx, sam.Source{
		Root: root, Template: template, Environment: "default", Parameters: given,
	})
	if err != nil {
		return cfn.Template{}, err
	}
	chosen, err := conditions.Choose(translated.Body, translated.Parameters)
	if err != nil {
		return cfn.Template{}, fmt.Errorf("choosing by the template's conditions: %w", err)
	}
	return cfn.Of(chosen), nil
}

// version is the digest in the logical id of a function's version. Each translator makes it of how it reads the code's
// location.
var version = regexp.MustCompile(`(FunctionVersion)[0-9a-f]{10}$`)

func unversioned(id string) string { return version.ReplaceAllString(id, "$1") }

// compare names every resource, variable and mapping of the template that the stack lacks.
func (d *deployed) compare(ctx context.Context, e *engine, want cfn.Template) (faults []string, err error) {
	functions := lambda.NewFromConfig(e.config())
	variables, err := d.compareVariables(ctx, functions, want)
	if err != nil {
		return nil, err
	}
	mappings, err := compareMappings(ctx, e, d, want)
	return slices.Concat(d.lacking(want), variables, mappings), err
}

// lacking names the resources of the template that the stack does not have.
func (d *deployed) lacking(want cfn.Template) (faults []string) {
	made := map[string]bool{}
	for id := range d.names {
		made[unversioned(id)] = true
	}
	for _, id := range slices.Sorted(maps.Keys(want.Resources)) {
		if !made[unversioned(id)] {
			faults = append(faults, fmt.Sprintf("resource %s (%s) is missing", id, want.Resources[id].Type))
		}
	}
	return faults
}

func (d *deployed) compareVariables(
	ctx context.Context, functions *lambda.Client, want cfn.Template,
) (faults []string, err error) {
	all := want.OfType("AWS::Lambda::Function")
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if d.names[id] == "" {
			continue // named already
		}
		made, err := functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{
			FunctionName: aws.String(d.names[id]),
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", id, err)
		}
		for _, name := range slices.Sorted(maps.Keys(cfn.At(all[id].Properties, "Environment", "Variables"))) {
			value, known := "", false
			if made.Environment != nil {
				value, known = made.Environment.Variables[name]
			}
			if !known || strings.Contains(value, "${") {
				faults = append(faults, fmt.Sprintf("variable %s of %s is missing: %q", name, id, value))
			}
		}
	}
	return faults, nil
}

// compareMappings looks whether each mapping polls for the alias that it names. It asks by the command line, since the
// engine answers sizes of batches as text, which the SDK for Go refuses.
func compareMappings(ctx context.Context, e *engine, d *deployed, want cfn.Template) (faults []string, err error) {
	text, err := e.run(ctx, "aws", "lambda", "list-event-source-mappings", "--output", "json",
		"--query", "EventSourceMappings[?State=='Enabled'].{UUID:UUID,FunctionArn:FunctionArn}")
	if err != nil {
		return nil, fmt.Errorf("listing mappings: %w", err)
	}
	var mappings []struct{ UUID, FunctionArn string }
	if err := json.Unmarshal(text, &mappings); err != nil {
		return nil, fmt.Errorf("reading mappings: %w", err)
	}
	polled := map[string]bool{}
	for _, m := range mappings {
		if strings.HasSuffix(m.FunctionArn, ":live") {
			polled[m.UUID] = true
		}
	}
	all := want.OfType("AWS::Lambda::EventSourceMapping")
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if d.names[id] != "" && !polled[d.names[id]] {
			faults = append(faults, fmt.Sprintf("mapping %s does not poll for the alias live", id))
		}
	}
	return faults, nil
}
