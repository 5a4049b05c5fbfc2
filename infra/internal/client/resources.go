package client

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// Names are the physical names of a stack's resources, by logical id.
func Names(
	ctx context.Context, cloud cloudformation.ListStackResourcesAPIClient, stack string,
) (map[string]string, error) {
	names := map[string]string{}
	pages := cloudformation.NewListStackResourcesPaginator(cloud,
		&cloudformation.ListStackResourcesInput{StackName: &stack})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the resources of %s: %w", stack, err)
		}
		for _, r := range page.StackResourceSummaries {
			names[aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
		}
	}
	return names, nil
}
