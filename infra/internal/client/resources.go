package client

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// Resources are a stack's.
func Resources(
	ctx context.Context, cloud cloudformation.ListStackResourcesAPIClient, stack string,
) (all []types.StackResourceSummary, err error) {
	pages := cloudformation.NewListStackResourcesPaginator(cloud,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the resources of %s: %w", stack, err)
		}
		all = append(all, page.StackResourceSummaries...)
	}
	return all, nil
}

// Names are the physical names of resources, by logical id.
func Names(resources []types.StackResourceSummary) map[string]string {
	names := map[string]string{}
	for _, r := range resources {
		names[aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
	}
	return names
}
