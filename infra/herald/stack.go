package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/urfave/cli/v3"
)

// The names of the local stack and of the AWS profile that leads to it.
const (
	localStack  = "herald-local"
	localConfig = ".local/aws/config"
)

// stack is a deployed stack: the outputs of its template, and AWS as its caller may use it.
type stack struct {
	name     string
	operator string // ARN of the caller, or the user of this machine on the local stack
	account  string // the caller's

	outputs, parameters map[string]string // by the names in the template
	functions           map[string]string // the names of the operator functions, by their folders

	aws    aws.Config
	lambda interface { // without retries: a retry would act twice
		Invoke(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
	}
}

// connect finds the stack of a command's flags, and its functions.
func connect(ctx context.Context, c *cli.Command) (stack, error) {
	cfg, err := configuration(ctx, c)
	if err != nil {
		return stack{}, err
	}
	s := stack{name: c.String("stack"), aws: cfg}
	if c.Bool("local") {
		s.name = localStack
	}
	if err := s.identify(ctx, c.String("account")); err != nil {
		return stack{}, err
	}
	if err := s.find(ctx); err != nil {
		return stack{}, err
	}
	s.lambda = lambda.NewFromConfig(cfg, func(o *lambda.Options) { o.RetryMaxAttempts = 1 })
	return s, nil
}

// identify reads who the caller is, and refuses an account that is not the named one.
func (s *stack) identify(ctx context.Context, account string) error {
	who, err := sts.NewFromConfig(s.aws).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return s.explain("asking who you are", err)
	}
	s.operator, s.account = aws.ToString(who.Arn), aws.ToString(who.Account)
	if account != "" && s.account != account {
		return fail(exitDenied, "your credentials are of the account %s, and --account names %s", s.account, account)
	}
	return nil
}

var accountForm = regexp.MustCompile(`^[0-9]{12}$`)

func checkAccount(account string) error {
	if !accountForm.MatchString(account) {
		return errors.New("--account is the 12 digits of an AWS account")
	}
	return nil
}

func configuration(ctx context.Context, c *cli.Command) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if c.Bool("local") {
		file, err := filepath.Abs(localConfig)
		if _, missing := os.Stat(localConfig); err != nil || missing != nil {
			return aws.Config{}, fail(exitFailed, "no local stack runs from this folder: start it with `make stack`")
		}
		options = append(options, config.WithSharedConfigFiles([]string{file}),
			config.WithSharedConfigProfile(localStack), config.WithRegion("local"))
	}
	if profile := c.String("profile"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	if region := c.String("region"); region != "" {
		options = append(options, config.WithRegion(region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fail(exitUsage, "loading the AWS configuration: %v", err)
	}
	if cfg.Region == "" {
		return aws.Config{}, fail(exitUsage, "no region: give --region, or set AWS_REGION")
	}
	return cfg, nil
}

// find reads the stack's outputs and parameters. Where there is no such stack, the error names Herald's stacks.
func (s *stack) find(ctx context.Context) error {
	client := cloudformation.NewFromConfig(s.aws)
	if s.name == "" {
		known, err := heraldStacks(ctx, client)
		if err != nil {
			return s.explain("looking for stacks", err)
		}
		if len(known) != 1 {
			return fail(exitUsage, "say which stack, with --stack: %s", list(known, s.aws.Region))
		}
		s.name = known[0]
	}
	out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err != nil || len(out.Stacks) == 0 {
		if known, listErr := heraldStacks(ctx, client); listErr == nil {
			return fail(exitFailed, "no stack %s in %s: %s", s.name, s.aws.Region, list(known, s.aws.Region))
		}
		return s.explain("looking for the stack "+s.name, err)
	}
	s.outputs, s.parameters, s.functions = map[string]string{}, map[string]string{}, map[string]string{}
	for _, p := range out.Stacks[0].Parameters {
		s.parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for _, o := range out.Stacks[0].Outputs {
		key, value := aws.ToString(o.OutputKey), aws.ToString(o.OutputValue)
		if folder, ok := strings.CutSuffix(key, "FunctionName"); ok {
			s.functions[strings.ToLower(folder)] = value
		}
		s.outputs[key] = value
	}
	return s.check()
}

// product is how the output Product begins, which names the version, too.
const product = "Herald "

// functionForm is a name, which begins as a stack's, perhaps with replay's alias. The number of an account is none.
var functionForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*(:delete)?$`)

// check refuses a stack that leads requests, which may have secrets, or events to another account. Its outputs are what
// the maker of the stack wants them to be.
func (s *stack) check() error {
	if !strings.HasPrefix(s.outputs["Product"], product) || s.functions["inspect"] == "" {
		return fail(exitFailed, "%s is not a stack of Herald: it has no outputs Product and InspectFunctionName", s.name)
	}
	for key, value := range s.outputs {
		if strings.HasSuffix(key, "FunctionName") && !functionForm.MatchString(value) {
			return fail(exitDenied, "the output %s of %s is no name of a function in your account, %s", key, s.name, s.account)
		}
	}
	queue, err := url.Parse(s.outputs["EventsQueueUrl"])
	if err != nil || strings.Count(queue.Path, "/") != 2 || !strings.HasPrefix(queue.Path, "/"+s.account+"/") {
		return fail(exitDenied, "the output EventsQueueUrl of %s is no queue in your account, %s", s.name, s.account)
	}
	return nil
}

func list(stacks []string, region string) string {
	if len(stacks) == 0 {
		return "there are none of Herald in " + region + "; is it the right region and account?"
	}
	return "stacks there are " + strings.Join(stacks, ", ")
}

// heraldStacks are the stacks of the region whose output says so. A tag would prove as little, and names alone nothing.
func heraldStacks(ctx context.Context, client *cloudformation.Client) (names []string, err error) {
	pages := cloudformation.NewDescribeStacksPaginator(client, &cloudformation.DescribeStacksInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing stacks: %w", err)
		}
		for _, s := range page.Stacks {
			if slices.ContainsFunc(s.Outputs, func(o types.Output) bool {
				return aws.ToString(o.OutputKey) == "Product" && strings.HasPrefix(aws.ToString(o.OutputValue), product)
			}) {
				names = append(names, aws.ToString(s.StackName))
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// explain adds a remedy to an error of AWS.
func (s stack) explain(doing string, err error) error {
	var api smithy.APIError
	var refused *net.OpError
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch {
	case strings.Contains(code, "Expired"):
		return fail(exitDenied, "%s: your AWS credentials have expired: log in again", doing)
	case strings.Contains(code, "AccessDenied"), strings.Contains(code, "UnrecognizedClient"),
		strings.Contains(code, "InvalidClientTokenId"):
		return fail(exitDenied, "%s: you have no right to do that; the stack's policies InstanceManagers, Deleters and "+
			"KeyIssuers allow invoking its functions (%s)", doing, api.ErrorMessage())
	case strings.Contains(code, "ResourceNotFound"):
		return fail(exitFailed, "%s: the stack %s has gone, or is being replaced", doing, s.name)
	case errors.As(err, &refused) && s.name == localStack:
		return fail(exitFailed, "%s: the local stack has gone: start it again, then this", doing)
	case errors.As(err, &refused):
		return fail(exitFailed, "%s: AWS cannot be reached: %v", doing, refused)
	case code == "" && strings.Contains(err.Error(), "credentials"):
		return fail(exitDenied, "%s: no AWS credentials: log in, or give --profile", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
