// Package deploy deploys a template to the AWS emulator and reads back the deployed resources.
//
// It promises a stack whose event source mappings are all disabled in the emulator, which would
// otherwise poll the queues itself. It changes nothing else.
package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/internal/sam"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/mapping"
)

// defaultConcurrency is for a mapping without MaximumConcurrency: Lambda starts with five.
const defaultConcurrency = 5

// Stack is the deployed stack, as the emulator describes it.
type Stack struct {
	Queues    map[string]string          // URLs, by logical id as in the other maps
	Tables    map[string]string          // names
	Keys      map[string]string          // ARNs
	Functions map[string]function.Config // as far as the stack says it
	Mappings  []*mapping.Mapping         // likewise
	Removed   map[string][]string        // logical ids, by type, of the resources that were not deployed

	arns map[string]string // of the queues, to their URLs
}

// Template deploys t as a stack of this name and reads the stack back.
func Template(ctx context.Context, cfg aws.Config, name string, t *sam.Template) (*Stack, error) {
	body, removed, err := t.Deployable()
	if err != nil {
		return nil, err
	}
	cloud := cloudformation.NewFromConfig(cfg)
	if err := create(ctx, cloud, name, body, t.Parameters); err != nil {
		return nil, fmt.Errorf("deploying stack %s: %w", name, err)
	}
	out, err := cloud.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &name})
	if err != nil {
		return nil, fmt.Errorf("reading stack %s: %w", name, err)
	}
	d := &Stack{
		Queues: map[string]string{}, Tables: map[string]string{}, Keys: map[string]string{},
		Functions: map[string]function.Config{}, Removed: removed, arns: map[string]string{},
	}
	for _, r := range out.StackResources {
		if err := d.read(ctx, cfg, r); err != nil {
			return nil, fmt.Errorf("reading %s: %w", aws.ToString(r.LogicalResourceId), err)
		}
	}
	return d, d.takeMappings(ctx, lambda.NewFromConfig(cfg))
}

func create(ctx context.Context, cloud *cloudformation.Client, name string, body map[string]any,
	given map[string]string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding template: %w", err)
	}
	var parameters []cfn.Parameter
	for key, value := range given {
		parameters = append(parameters, cfn.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	_, err = cloud.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(string(text)), Parameters: parameters,
		Capabilities: []cfn.Capability{cfn.CapabilityCapabilityNamedIam, cfn.CapabilityCapabilityAutoExpand},
	})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	out, err := cloud.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		return fmt.Errorf("describing: %w", err)
	}
	if len(out.Stacks) != 1 || out.Stacks[0].StackStatus != cfn.StackStatusCreateComplete {
		return errors.New("the emulator did not complete the stack")
	}
	return nil
}

// read adds one deployed resource.
func (d *Stack) read(ctx context.Context, cfg aws.Config, r cfn.StackResource) error {
	id, physical := aws.ToString(r.LogicalResourceId), aws.ToString(r.PhysicalResourceId)
	switch aws.ToString(r.ResourceType) {
	case "AWS::DynamoDB::Table":
		d.Tables[id] = physical
	case "AWS::SQS::Queue":
		out, err := sqs.NewFromConfig(cfg).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &physical, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
		})
		if err != nil {
			return fmt.Errorf("describing queue: %w", err)
		}
		d.Queues[id] = physical
		d.arns[out.Attributes["QueueArn"]] = physical
	case "AWS::KMS::Key":
		out, err := kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &physical})
		if err != nil {
			return fmt.Errorf("describing key: %w", err)
		}
		d.Keys[id] = aws.ToString(out.KeyMetadata.Arn)
	case "AWS::Lambda::Function":
		out, err := lambda.NewFromConfig(cfg).GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &physical})
		if err != nil {
			return fmt.Errorf("describing function (is a variable not a string? use !Sub): %w", err)
		}
		d.Functions[id] = config(out)
	}
	return nil
}

func config(out *lambda.GetFunctionOutput) function.Config {
	c := out.Configuration
	f := function.Config{
		Name: aws.ToString(c.FunctionName), ARN: aws.ToString(c.FunctionArn), Handler: aws.ToString(c.Handler),
		Timeout: time.Duration(aws.ToInt32(c.Timeout)) * time.Second, MemoryMB: int(aws.ToInt32(c.MemorySize)),
	}
	if out.Concurrency != nil {
		f.Concurrency = int(aws.ToInt32(out.Concurrency.ReservedConcurrentExecutions))
	}
	if c.Environment != nil {
		f.Variables = c.Environment.Variables
	}
	return f
}

// takeMappings reads every event source mapping and disables it in the emulator.
func (d *Stack) takeMappings(ctx context.Context, client *lambda.Client) error {
	out, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{})
	if err != nil {
		return fmt.Errorf("listing mappings: %w", err)
	}
	for _, m := range out.EventSourceMappings {
		if m.FilterCriteria != nil || m.ProvisionedPollerConfig != nil {
			return errors.New("event filters and provisioned pollers are not known to the local stack")
		}
		arn := aws.ToString(m.EventSourceArn)
		taken := &mapping.Mapping{
			QueueARN: arn, QueueURL: d.arns[arn], FunctionARN: aws.ToString(m.FunctionArn),
			BatchSize: int(aws.ToInt32(m.BatchSize)), MaximumConcurrency: defaultConcurrency,
			Window: time.Duration(aws.ToInt32(m.MaximumBatchingWindowInSeconds)) * time.Second,
			PartialResponses: slices.Contains(m.FunctionResponseTypes,
				lambdatypes.FunctionResponseTypeReportBatchItemFailures),
		}
		if m.ScalingConfig != nil && m.ScalingConfig.MaximumConcurrency != nil {
			taken.MaximumConcurrency = int(*m.ScalingConfig.MaximumConcurrency)
		}
		d.Mappings = append(d.Mappings, taken)
		_, err := client.UpdateEventSourceMapping(ctx,
			&lambda.UpdateEventSourceMappingInput{UUID: m.UUID, Enabled: aws.Bool(false)})
		if err != nil {
			return fmt.Errorf("disabling mapping: %w", err)
		}
	}
	return nil
}
