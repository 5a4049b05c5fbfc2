package client

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// Resource is a resource of a stack: its logical id in the template, its type, and its physical name.
type Resource struct{ ID, Type, Name string }

// Resources are those of a stack.
func Resources(
	ctx context.Context, cloud cloudformation.ListStackResourcesAPIClient, stack string,
) (all []Resource, err error) {
	pages := cloudformation.NewListStackResourcesPaginator(cloud,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the resources of %s: %w", stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			all = append(all, Resource{
				aws.ToString(r.LogicalResourceId), aws.ToString(r.ResourceType), aws.ToString(r.PhysicalResourceId),
			})
		}
	}
	return all, nil
}

// Names are the physical names of a stack's resources, by logical id.
func Names(
	ctx context.Context, cloud cloudformation.ListStackResourcesAPIClient, stack string,
) (map[string]string, error) {
	all, err := Resources(ctx, cloud, stack)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, r := range all {
		names[r.ID] = r.Name
	}
	return names, nil
}
