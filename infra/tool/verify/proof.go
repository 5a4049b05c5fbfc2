package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
)

// proof looks whether CloudTrail records who invokes the operator functions. Their audit lines name the operator as the
// request does. A stack works without it.
func proof(ctx context.Context, r *run) (string, error) {
	if r.Trails == nil {
		return "", notShown("the local stack has no CloudTrail")
	}
	left := slices.Sorted(slices.Values(r.Operators))
	if len(left) == 0 {
		return "", fmt.Errorf("the stack has no operator functions")
	}
	out, err := r.Trails.DescribeTrails(ctx, &cloudtrail.DescribeTrailsInput{})
	if err != nil {
		return "", noRight("listing trails", "cloudtrail:DescribeTrails", err)
	}
	for _, trail := range out.TrailList {
		records, err := r.recordedBy(ctx, trail)
		if err != nil {
			return "", err
		}
		left = slices.DeleteFunc(left, records)
	}
	if len(left) > 0 {
		return "", notShown("no trail of CloudTrail records the callers of " + strings.Join(functionNames(left), ", ") +
			": operators are who they say (deploy.md, \"Proof of who asked\")")
	}
	return "CloudTrail records who invokes the operator functions", nil
}

func functionNames(arns []string) []string {
	names := make([]string, len(arns))
	for n, a := range arns {
		names[n] = a[strings.Index(a, ":function:")+len(":function:"):]
	}
	return names
}

// recordedBy returns whether a trail records the invocations of a function, by its ARN.
func (r *run) recordedBy(ctx context.Context, trail types.Trail) (func(function string) bool, error) {
	status, err := r.Trails.GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: trail.TrailARN})
	if err != nil {
		return nil, noRight("looking at a trail", "cloudtrail:GetTrailStatus", err)
	}
	selected, err := r.Trails.GetEventSelectors(ctx, &cloudtrail.GetEventSelectorsInput{TrailName: trail.TrailARN})
	if err != nil {
		return nil, noRight("looking at a trail", "cloudtrail:GetEventSelectors", err)
	}
	return func(function string) bool {
		parsed, err := arn.Parse(function)
		here := aws.ToBool(trail.IsMultiRegionTrail) || aws.ToString(trail.HomeRegion) == parsed.Region
		return err == nil && here && aws.ToBool(status.IsLogging) &&
			(slices.ContainsFunc(selected.EventSelectors, func(s types.EventSelector) bool { return basic(s, parsed) }) ||
				slices.ContainsFunc(selected.AdvancedEventSelectors, func(s types.AdvancedEventSelector) bool {
					return advanced(s, function)
				}))
	}, nil
}

// functionType is CloudTrail's type of resource.
const functionType = "AWS::Lambda::Function"

// basic reports whether a selector takes every Invoke, an event that CloudTrail counts as a write, of the function. Its
// value is the function's exact ARN, or the prefix of all.
func basic(s types.EventSelector, function arn.ARN) bool {
	all := "arn:" + function.Partition + ":lambda"
	return s.ReadWriteType != types.ReadWriteTypeReadOnly &&
		slices.ContainsFunc(s.DataResources, func(d types.DataResource) bool {
			return aws.ToString(d.Type) == functionType &&
				(slices.Contains(d.Values, all) || slices.Contains(d.Values, function.String()))
		})
}

// advanced reports whether a selector takes every Invoke of the function. Each of its fields has to match. A field that
// selects callers, or an unknown field, leaves out some calls.
func advanced(s types.AdvancedEventSelector, function string) bool {
	is := map[string]string{
		"eventCategory": "Data", "resources.type": functionType, "resources.ARN": function, "readOnly": "false",
		"eventName": "Invoke", "eventSource": "lambda.amazonaws.com", "eventType": "AwsApiCall",
	}
	category, kind := false, false
	for _, f := range s.FieldSelectors {
		field := aws.ToString(f.Field)
		value, known := is[field]
		if !known || !matches(f, value) {
			return false
		}
		category, kind = category || field == "eventCategory", kind || field == "resources.type"
	}
	return category && kind
}

// matches reports whether one of the operators that include matches, if there are any, and none that excludes.
func matches(f types.AdvancedFieldSelector, value string) bool {
	begins := func(with string) bool { return strings.HasPrefix(value, with) }
	ends := func(with string) bool { return strings.HasSuffix(value, with) }
	including := len(f.Equals)+len(f.StartsWith)+len(f.EndsWith) > 0
	included := slices.Contains(f.Equals, value) || slices.ContainsFunc(f.StartsWith, begins) ||
		slices.ContainsFunc(f.EndsWith, ends)
	excluded := slices.Contains(f.NotEquals, value) || slices.ContainsFunc(f.NotStartsWith, begins) ||
		slices.ContainsFunc(f.NotEndsWith, ends)
	return (included || !including) && !excluded
}
