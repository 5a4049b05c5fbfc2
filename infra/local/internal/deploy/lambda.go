package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

func readFunction(ctx context.Context, client *lambda.Client, name string) (Function, error) {
	out, err := client.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: &name})
	if err != nil {
		return Function{}, fmt.Errorf("describing function (is a variable not a string? use !Sub): %w", err)
	}
	c := out.Configuration
	f := Function{
		Name: aws.ToString(c.FunctionName), ARN: aws.ToString(c.FunctionArn), Handler: aws.ToString(c.Handler),
		TimeoutSeconds: int(aws.ToInt32(c.Timeout)), MemoryMB: int(aws.ToInt32(c.MemorySize)),
	}
	if out.Concurrency != nil {
		f.Concurrency = int(aws.ToInt32(out.Concurrency.ReservedConcurrentExecutions))
	}
	if c.Environment != nil {
		f.Variables = c.Environment.Variables
	}
	return f, nil
}

// takeMappings reads every event source mapping and disables it in the emulator.
func takeMappings(ctx context.Context, client *lambda.Client) ([]Mapping, error) {
	out, err := client.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{})
	if err != nil {
		return nil, fmt.Errorf("listing mappings: %w", err)
	}
	var mappings []Mapping
	for _, m := range out.EventSourceMappings {
		if aws.ToString(m.State) != "Enabled" {
			continue
		}
		if m.FilterCriteria != nil || m.ProvisionedPollerConfig != nil {
			return nil, errors.New("event filters and provisioned pollers are not known to the local stack")
		}
		mapping := Mapping{
			QueueARN: aws.ToString(m.EventSourceArn), FunctionARN: aws.ToString(m.FunctionArn),
			BatchSize: int(aws.ToInt32(m.BatchSize)), WindowSeconds: int(aws.ToInt32(m.MaximumBatchingWindowInSeconds)),
			PartialResponses: slices.Contains(m.FunctionResponseTypes, types.FunctionResponseTypeReportBatchItemFailures),
		}
		if m.ScalingConfig != nil {
			mapping.MaximumConcurrency = int(aws.ToInt32(m.ScalingConfig.MaximumConcurrency))
		}
		mappings = append(mappings, mapping)
		_, err := client.UpdateEventSourceMapping(ctx,
			&lambda.UpdateEventSourceMappingInput{UUID: m.UUID, Enabled: aws.Bool(false)})
		if err != nil {
			return nil, fmt.Errorf("disabling mapping: %w", err)
		}
	}
	return mappings, nil
}
