package switches

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/herald-webhooks/herald/infra/kit/client"
)

// AWS is the part of AWS that finds and turns switches.
type AWS struct {
	Mappings
	Tags
	Schedules
}

// Find finds a stack's switches among its resources: every mapping, and every schedule that invokes a function. Its
// heartbeat, a schedule that sends a message, is none: the message waits with all others.
func Find(ctx context.Context, on AWS, resources []client.Resource) (all []Switch, err error) {
	for _, r := range resources {
		var found []Switch
		switch r.Type {
		case "AWS::Lambda::EventSourceMapping":
			found, err = on.mapping(ctx, r.Name)
		case "AWS::Scheduler::Schedule":
			found, err = on.schedule(ctx, r.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("looking at %s: %w", r.ID, err)
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Switch) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// mapping is the switch of a mapping. Its mark is a tag of the mapping.
func (a AWS) mapping(ctx context.Context, id string) ([]Switch, error) {
	got, err := a.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &id})
	if err != nil {
		return nil, fmt.Errorf("lambda:GetEventSourceMapping: %w", err)
	}
	function, err := arn.Parse(aws.ToString(got.FunctionArn))
	if err != nil {
		return nil, fmt.Errorf("reading the ARN of its function: %w", err)
	}
	queue, err := arn.Parse(aws.ToString(got.EventSourceArn))
	if err != nil {
		return nil, fmt.Errorf("reading the ARN of its queue: %w", err)
	}
	marked := function
	marked.Resource = "event-source-mapping:" + id
	name := queue.Resource + " to " + functionName(function)
	return []Switch{{name, mapping{a.Mappings, id}, tag{a.Tags, marked.String()}}}, nil
}

// schedule is the switch of a schedule that invokes a function. Schedules have no tags: its mark is a tag of the
// function.
func (a AWS) schedule(ctx context.Context, name string) ([]Switch, error) {
	got, err := a.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &name})
	if err != nil {
		return nil, fmt.Errorf("scheduler:GetSchedule: %w", err)
	}
	if got.Target == nil {
		return nil, nil
	}
	function, err := arn.Parse(aws.ToString(got.Target.Arn))
	if err != nil || function.Service != "lambda" {
		return nil, nil //nolint:nilerr // it invokes something else
	}
	function.Resource = "function:" + functionName(function) // tags are not of aliases
	called := "schedule of " + functionName(function)
	return []Switch{{called, schedule{a.Schedules, name}, tag{a.Tags, function.String()}}}, nil
}

// functionName is the name in the ARN of a function or of its alias.
func functionName(function arn.ARN) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(function.Resource, "function:"), ":")
	return name
}
