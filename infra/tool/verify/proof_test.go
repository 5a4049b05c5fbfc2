package verify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"
	"github.com/aws/smithy-go"
)

// recorder is a CloudTrail with one trail of eu-central-1.
type recorder struct {
	trail    types.Trail
	stopped  bool
	selected cloudtrail.GetEventSelectorsOutput
	err      error
}

func (r recorder) DescribeTrails(context.Context, *cloudtrail.DescribeTrailsInput, ...func(*cloudtrail.Options)) (
	*cloudtrail.DescribeTrailsOutput, error,
) {
	return &cloudtrail.DescribeTrailsOutput{TrailList: []types.Trail{r.trail}}, r.err
}

func (r recorder) GetTrailStatus(context.Context, *cloudtrail.GetTrailStatusInput, ...func(*cloudtrail.Options)) (
	*cloudtrail.GetTrailStatusOutput, error,
) {
	return &cloudtrail.GetTrailStatusOutput{IsLogging: aws.Bool(!r.stopped)}, nil
}

func (r recorder) GetEventSelectors(context.Context, *cloudtrail.GetEventSelectorsInput, ...func(*cloudtrail.Options)) (
	*cloudtrail.GetEventSelectorsOutput, error,
) {
	return &r.selected, nil
}

const (
	inspectARN = "arn:aws:lambda:eu-central-1:111122223333:function:herald-inspect"
	replayARN  = "arn:aws:lambda:eu-central-1:111122223333:function:herald-replay"
)

func basicOf(access types.ReadWriteType, kind string, values ...string) cloudtrail.GetEventSelectorsOutput {
	return cloudtrail.GetEventSelectorsOutput{EventSelectors: []types.EventSelector{{
		ReadWriteType: access, DataResources: []types.DataResource{{Type: &kind, Values: values}},
	}}}
}

// advancedOf has one selector of Lambda's data events, with more fields.
func advancedOf(more ...types.AdvancedFieldSelector) cloudtrail.GetEventSelectorsOutput {
	fields := []types.AdvancedFieldSelector{
		{Field: aws.String("eventCategory"), Equals: []string{"Data"}},
		{Field: aws.String("resources.type"), Equals: []string{functionType}},
	}
	return cloudtrail.GetEventSelectorsOutput{AdvancedEventSelectors: []types.AdvancedEventSelector{{
		FieldSelectors: append(fields, more...),
	}}}
}

// advancedBut is the selector without one of its fields.
func advancedBut(name string) cloudtrail.GetEventSelectorsOutput {
	of := advancedOf()
	selector := &of.AdvancedEventSelectors[0]
	selector.FieldSelectors = slices.DeleteFunc(selector.FieldSelectors, func(f types.AdvancedFieldSelector) bool {
		return *f.Field == name
	})
	return of
}

func field(name string) types.AdvancedFieldSelector { return types.AdvancedFieldSelector{Field: &name} }

// Each row has the selectors of a trail, and the functions with unrecorded callers.
//
// Threat of the account: acts under another's name. Held by: the audit log has the claim; CloudTrail has [the
// caller](deploy.md#proof-of-who-asked).
func TestProof_namesTheFunctionsWithoutOne(t *testing.T) {
	const both = "herald-inspect, herald-replay"
	arns := func(operators ...func(*types.AdvancedFieldSelector)) types.AdvancedFieldSelector {
		f := field("resources.ARN")
		for _, o := range operators {
			o(&f)
		}
		return f
	}
	equals := func(v ...string) func(*types.AdvancedFieldSelector) {
		return func(f *types.AdvancedFieldSelector) { f.Equals = v }
	}
	here := types.Trail{TrailARN: aws.String("trail"), HomeRegion: aws.String("eu-central-1")}
	for name, row := range map[string]struct {
		selected cloudtrail.GetEventSelectorsOutput
		left     string
	}{
		"management events alone": {cloudtrail.GetEventSelectorsOutput{
			EventSelectors: []types.EventSelector{{IncludeManagementEvents: aws.Bool(true)}},
		}, both},
		"objects of S3":           {basicOf(types.ReadWriteTypeAll, "AWS::S3::Object", "arn:aws:s3"), both},
		"all functions":           {basicOf(types.ReadWriteTypeAll, functionType, "arn:aws:lambda"), ""},
		"writes of all functions": {basicOf(types.ReadWriteTypeWriteOnly, functionType, "arn:aws:lambda"), ""},
		"reads of all functions":  {basicOf(types.ReadWriteTypeReadOnly, functionType, "arn:aws:lambda"), both},
		"one function":            {basicOf(types.ReadWriteTypeAll, functionType, inspectARN), "herald-replay"},
		"both functions":          {basicOf(types.ReadWriteTypeAll, functionType, inspectARN, replayARN), ""},
		"a part of an ARN": {
			basicOf(types.ReadWriteTypeAll, functionType, strings.TrimSuffix(inspectARN, "-inspect")), both,
		},
		"advanced, all functions":           {advancedOf(), ""},
		"advanced, no category":             {advancedBut("eventCategory"), both},
		"advanced, any resource":            {advancedBut("resources.type"), both},
		"advanced, another category":        {advancedOf(withEquals("eventCategory", "Management")), both},
		"advanced, one function":            {advancedOf(arns(equals(replayARN))), "herald-inspect"},
		"advanced, both functions":          {advancedOf(arns(equals(replayARN, inspectARN))), ""},
		"advanced, another stack's":         {advancedOf(arns(equals(inspectARN + "2"))), both},
		"advanced, reads":                   {advancedOf(withEquals("readOnly", "true")), both},
		"advanced, writes":                  {advancedOf(withEquals("readOnly", "false")), ""},
		"advanced, invocations":             {advancedOf(withEquals("eventName", "Invoke")), ""},
		"advanced, other calls":             {advancedOf(withEquals("eventName", "InvokeWithResponseStream")), both},
		"advanced, a caller":                {advancedOf(withEquals("userIdentity.arn", "arn:aws:iam::1:user/ann")), both},
		"advanced, a field of the future":   {advancedOf(withEquals("weekday", "Sunday")), both},
		"advanced, the beginning of an ARN": {advancedOf(arns(startsWith("arn:aws:lambda:eu-central-1:111122223333:"))), ""},
		"advanced, the end of an ARN":       {advancedOf(arns(endsWith("-inspect"))), "herald-replay"},
		"advanced, a function left out":     {advancedOf(arns(notEquals(inspectARN))), "herald-inspect"},
		"advanced, begins and is left out":  {advancedOf(arns(startsWith("arn:"), notEndsWith("replay"))), "herald-replay"},
		"advanced, all others left out":     {advancedOf(arns(notStartsWith("arn:aws:lambda:us-east-1:"))), ""},
	} {
		r := &run{Config: Config{
			Trails: recorder{trail: here, selected: row.selected}, Operators: []string{replayARN, inspectARN},
		}}
		_, err := proof(context.Background(), r)
		var hidden notShown
		says := ""
		if errors.As(err, &hidden) {
			_, says, _ = strings.Cut(string(hidden), "the callers of ")
			says, _, _ = strings.Cut(says, ":")
		}
		if says != row.left || (err == nil) != (row.left == "") {
			t.Errorf("%s: %v, want %q", name, err, row.left)
		}
	}
}

// AWS does not say that a selector of a function's exact ARN takes calls by an alias, by which replay deletes for good.
func TestProof_isOfAliasesToo(t *testing.T) {
	alias := replayARN + ":delete"
	exact, beginning := field("resources.ARN"), field("resources.ARN")
	exact.Equals, beginning.StartsWith = []string{replayARN}, []string{replayARN}
	for name, row := range map[string]struct {
		selected cloudtrail.GetEventSelectorsOutput
		proved   bool
	}{
		"all functions":              {basicOf(types.ReadWriteTypeAll, functionType, "arn:aws:lambda"), true},
		"the function":               {basicOf(types.ReadWriteTypeAll, functionType, replayARN), false},
		"both":                       {basicOf(types.ReadWriteTypeAll, functionType, replayARN, alias), true},
		"advanced, the function":     {advancedOf(exact), false},
		"advanced, how both begin":   {advancedOf(beginning), true},
		"advanced, every function's": {advancedOf(), true},
	} {
		trail := types.Trail{TrailARN: aws.String("trail"), IsMultiRegionTrail: aws.Bool(true)}
		_, err := proof(t.Context(), &run{Config: Config{
			Trails: recorder{trail: trail, selected: row.selected}, Operators: []string{replayARN, alias},
		}})
		named := err != nil && strings.Contains(err.Error(), "of herald-replay:delete: ")
		if (err == nil) != row.proved || named == row.proved {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func withEquals(name, value string) types.AdvancedFieldSelector {
	f := field(name)
	f.Equals = []string{value}
	return f
}

func startsWith(v string) func(*types.AdvancedFieldSelector) {
	return func(f *types.AdvancedFieldSelector) { f.StartsWith = []string{v} }
}

func endsWith(v string) func(*types.AdvancedFieldSelector) {
	return func(f *types.AdvancedFieldSelector) { f.EndsWith = []string{v} }
}

func notEquals(v string) func(*types.AdvancedFieldSelector) {
	return func(f *types.AdvancedFieldSelector) { f.NotEquals = []string{v} }
}

func notStartsWith(v string) func(*types.AdvancedFieldSelector) {
	return func(f *types.AdvancedFieldSelector) { f.NotStartsWith = []string{v} }
}

func notEndsWith(v string) func(*types.AdvancedFieldSelector) {
	return func(f *types.AdvancedFieldSelector) { f.NotEndsWith = []string{v} }
}

func TestProof_isOfTrailsThatRecordHere(t *testing.T) {
	elsewhere, everywhere := aws.String("us-east-1"), aws.Bool(true)
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException"}
	for name, row := range map[string]struct {
		trails Trails
		want   string
	}{
		"none":                     {recorder{}, "no trail"},
		"stopped":                  {recorder{trail: types.Trail{IsMultiRegionTrail: everywhere}, stopped: true}, "no trail"},
		"another Region's":         {recorder{trail: types.Trail{HomeRegion: elsewhere}}, "no trail"},
		"of all Regions":           {recorder{trail: types.Trail{HomeRegion: elsewhere, IsMultiRegionTrail: everywhere}}, ""},
		"no right to see any":      {recorder{err: denied}, "no right to look (cloudtrail:DescribeTrails)"},
		"the local stack has none": {nil, "no CloudTrail"},
	} {
		if r, ok := row.trails.(recorder); ok {
			r.selected = advancedOf()
			row.trails = r
		}
		_, err := proof(context.Background(), &run{Config: Config{Trails: row.trails, Operators: []string{inspectARN}}})
		var hidden notShown
		told := errors.As(err, &hidden) && strings.Contains(err.Error(), row.want)
		if row.want == "" && err != nil || row.want != "" && !told {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
