package switches

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Mappings is Lambda's interface to event source mappings, which [lambda.Client] has.
type Mappings interface {
	GetEventSourceMapping(
		context.Context, *lambda.GetEventSourceMappingInput, ...func(*lambda.Options),
	) (*lambda.GetEventSourceMappingOutput, error)
	UpdateEventSourceMapping(
		context.Context, *lambda.UpdateEventSourceMappingInput, ...func(*lambda.Options),
	) (*lambda.UpdateEventSourceMappingOutput, error)
}

// Tags is Lambda's interface to the tags of its resources, which [lambda.Client] has.
type Tags interface {
	ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error)
	TagResource(
		context.Context, *lambda.TagResourceInput, ...func(*lambda.Options),
	) (*lambda.TagResourceOutput, error)
	UntagResource(
		context.Context, *lambda.UntagResourceInput, ...func(*lambda.Options),
	) (*lambda.UntagResourceOutput, error)
}

// mapping is an event source mapping, by its id.
type mapping struct {
	client Mappings
	id     string
}

func (m mapping) state(ctx context.Context) (state, error) {
	got, err := m.client.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &m.id})
	if err != nil {
		return "", fmt.Errorf("lambda:GetEventSourceMapping: %w", err)
	}
	switch aws.ToString(got.State) {
	case "Enabled":
		return on, nil
	case "Disabled":
		return off, nil
	}
	return changing, nil // Creating, Enabling, Disabling, Updating or Deleting
}

func (m mapping) turn(ctx context.Context, to state) error {
	_, err := m.client.UpdateEventSourceMapping(ctx, &lambda.UpdateEventSourceMappingInput{
		UUID: &m.id, Enabled: aws.Bool(to == on),
	})
	var inUse *types.ResourceInUseException
	var conflict *types.ResourceConflictException
	if errors.As(err, &inUse) || errors.As(err, &conflict) {
		return errBusy
	}
	if err != nil {
		return fmt.Errorf("lambda:UpdateEventSourceMapping: %w", err)
	}
	return nil
}

// Tag is the key of a stop's mark. Its value says when.
const Tag = "herald:stopped"

// tag is the mark on a resource of Lambda, by its ARN.
type tag struct {
	client Tags
	arn    string
}

func (t tag) read(ctx context.Context) (string, error) {
	got, err := t.client.ListTags(ctx, &lambda.ListTagsInput{Resource: &t.arn})
	if err != nil {
		return "", fmt.Errorf("lambda:ListTags: %w", err)
	}
	return got.Tags[Tag], nil
}

func (t tag) write(ctx context.Context, mark string) error {
	_, err := t.client.TagResource(ctx, &lambda.TagResourceInput{Resource: &t.arn, Tags: map[string]string{Tag: mark}})
	if err != nil {
		return fmt.Errorf("lambda:TagResource: %w", err)
	}
	return nil
}

func (t tag) remove(ctx context.Context) error {
	_, err := t.client.UntagResource(ctx, &lambda.UntagResourceInput{Resource: &t.arn, TagKeys: []string{Tag}})
	if err != nil {
		return fmt.Errorf("lambda:UntagResource: %w", err)
	}
	return nil
}
