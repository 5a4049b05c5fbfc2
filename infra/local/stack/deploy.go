package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/mapping"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// defaultConcurrency is for a mapping without MaximumConcurrency: Lambda starts with five.
const defaultConcurrency = 5

// deploy deploys the template to the emulator, and makes functions and mappings as the emulator then describes them.
func (s *Stack) deploy(ctx context.Context) error {
	s.options.say("deploying template.yaml to the AWS emulator")
	cfg := s.aws(s.emulator.URL.String())
	cloud := cloudformation.NewFromConfig(cfg)
	if err := s.create(ctx, cloud); err != nil {
		return fmt.Errorf("deploying stack %s: %w", stackName, err)
	}
	out, err := cloud.DescribeStackResources(ctx,
		&cloudformation.DescribeStackResourcesInput{StackName: aws.String(stackName)})
	if err != nil {
		return fmt.Errorf("reading stack %s: %w", stackName, err)
	}
	described, functions := s.template.OfType("AWS::Lambda::Function"), lambda.NewFromConfig(cfg)
	for _, r := range out.StackResources {
		id, physical := aws.ToString(r.LogicalResourceId), aws.ToString(r.PhysicalResourceId)
		switch aws.ToString(r.ResourceType) {
		case "AWS::DynamoDB::Table":
			s.Tables[id] = physical
		case "AWS::SQS::Queue":
			s.Queues[id] = physical
		case "AWS::Lambda::Function":
			if err := s.makeFunction(ctx, functions, physical, id, described[id]); err != nil {
				return fmt.Errorf("preparing %s: %w", id, err)
			}
		}
	}
	for id, aliases := range s.aliased() {
		for _, alias := range aliases { // as herald knows the outputs XyzFunctionName
			s.Functions[folder(id)+alias] = s.functions[id].Name + ":" + alias
		}
	}
	s.EventsQueueURL = s.Queues["EventsQueue"]
	return s.takeMappings(ctx, functions, sqs.NewFromConfig(cfg))
}

func (s *Stack) create(ctx context.Context, cloud *cloudformation.Client) error {
	body, removed, err := s.template.Deployable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding template: %w", err)
	}
	var parameters []types.Parameter
	for key, value := range s.template.Parameters {
		parameters = append(parameters, types.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	_, err = cloud.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: aws.String(stackName), TemplateBody: aws.String(string(text)), Parameters: parameters,
		Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam, types.CapabilityCapabilityAutoExpand},
	})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	out, err := cloud.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: aws.String(stackName)})
	if err != nil {
		return fmt.Errorf("describing: %w", err)
	}
	if len(out.Stacks) != 1 || out.Stacks[0].StackStatus != types.StackStatusCreateComplete {
		return errors.New("the emulator did not complete the stack")
	}
	s.options.say("not deployed, since the emulator does not know them; the host itself serves API and schedules:")
	for _, kind := range slices.Sorted(maps.Keys(removed)) {
		s.options.say("  %s: %s", kind, strings.Join(removed[kind], ", "))
	}
	return nil
}

// aliased are the aliases of functions, by the functions' logical ids. They come from the template, because the
// emulator does not create them.
func (s *Stack) aliased() map[string][]string {
	all := map[string][]string{}
	for _, alias := range s.template.OfType("AWS::Lambda::Alias") {
		if id, ok := cfn.At(alias.Properties, "FunctionName")["Ref"].(string); ok {
			all[id] = append(all[id], s.template.Text(alias.Properties["Name"]))
		}
	}
	return all
}

// aliases are the aliases of functions, by their deployed names.
func (s *Stack) aliases() map[string][]string {
	all := map[string][]string{}
	for id, aliases := range s.aliased() {
		all[s.functions[id].Name] = aliases
	}
	return all
}

// folder is the name of a function's folder: XyzFunction lives in functions/xyz.
func folder(logicalID string) string {
	return strings.ToLower(strings.TrimSuffix(logicalID, "Function"))
}

// makeFunction prepares a deployed function; one without a binary is an error.
func (s *Stack) makeFunction(
	ctx context.Context, client *lambda.Client, deployed, id string, described cfn.Resource,
) error {
	out, err := client.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &deployed})
	if err != nil {
		return fmt.Errorf("describing function (is a variable not a string? use !Sub): %w", err)
	}
	own := out.Configuration
	logging := cfn.At(described.Properties, "LoggingConfig") // which the emulator does not keep
	c := function.Config{
		Name: deployed, ARN: aws.ToString(own.FunctionArn), Region: s.Region, Handler: aws.ToString(own.Handler),
		Timeout: time.Duration(aws.ToInt32(own.Timeout)) * time.Second, MemoryMB: int(aws.ToInt32(own.MemorySize)),
		LogFormat: s.template.Text(logging["LogFormat"]), LogLevel: s.template.Text(logging["ApplicationLogLevel"]),
		Host: map[string]string{
			"AWS_ENDPOINT_URL": s.emulator.URL.String(), "AWS_ENDPOINT_URL_LAMBDA": s.AWSEndpointURL,
			"SSL_CERT_FILE": s.CAFile,
		},
		Binary:  filepath.Join(s.options.Dir, "functions", folder(id), "bootstrap"),
		LogFile: filepath.Join(s.options.logs(), folder(id)+".log"), Log: s.log,
	}
	if out.Concurrency != nil {
		c.Concurrency = int(aws.ToInt32(out.Concurrency.ReservedConcurrentExecutions))
	}
	if own.Environment != nil {
		c.Variables = own.Environment.Variables
	}
	f, err := function.New(c)
	if err != nil {
		return err
	}
	s.functions[id], s.Functions[folder(id)] = f, f.Name
	s.onClose(f.Close)
	return nil
}

// takeMappings reads every event source mapping and disables it in the emulator, which would otherwise poll the queues
// itself.
func (s *Stack) takeMappings(ctx context.Context, client *lambda.Client, queues *sqs.Client) error {
	byARN := map[string]*function.Function{}
	for _, f := range s.functions {
		byARN[f.ARN] = f
	}
	out, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{})
	if err != nil {
		return fmt.Errorf("listing mappings: %w", err)
	}
	for _, m := range out.EventSourceMappings {
		if m.FilterCriteria != nil || m.ProvisionedPollerConfig != nil {
			return errors.New("event filters and provisioned pollers are not known to the local stack")
		}
		arn := aws.ToString(m.EventSourceArn)
		name := arn[strings.LastIndex(arn, ":")+1:]
		queue, err := queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
		if err != nil {
			return fmt.Errorf("finding the queue %s: %w", name, err)
		}
		taken := &mapping.Mapping{
			QueueARN: arn, QueueURL: aws.ToString(queue.QueueUrl), Region: s.Region,
			BatchSize: int(aws.ToInt32(m.BatchSize)), MaximumConcurrency: defaultConcurrency,
			Window: time.Duration(aws.ToInt32(m.MaximumBatchingWindowInSeconds)) * time.Second,
			PartialResponses: slices.Contains(m.FunctionResponseTypes,
				lambdatypes.FunctionResponseTypeReportBatchItemFailures),
			Queue: queues, Function: byARN[aws.ToString(m.FunctionArn)], Log: s.log,
		}
		if m.ScalingConfig != nil && m.ScalingConfig.MaximumConcurrency != nil {
			taken.MaximumConcurrency = int(*m.ScalingConfig.MaximumConcurrency)
		}
		s.mappings = append(s.mappings, taken)
		_, err = client.UpdateEventSourceMapping(ctx,
			&lambda.UpdateEventSourceMappingInput{UUID: m.UUID, Enabled: aws.Bool(false)})
		if err != nil {
			return fmt.Errorf("disabling mapping: %w", err)
		}
	}
	return nil
}
