package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// localConfig is the AWS configuration of the local stack, below the folder that it runs from.
const localConfig = ".local/aws/config"

// Where leads to a stack, as an operator names it. All fields may be empty.
type Where struct {
	Name            string // needed where the Region has several stacks
	Region, Profile string // instead of those of the AWS configuration
	Account         string // refuses credentials of any other account
	Local           bool   // the local stack that runs from this folder
}

// Connect finds a stack, its functions, and who its caller is.
func Connect(ctx context.Context, where Where) (Stack, error) {
	cfg, err := configuration(ctx, where)
	if err != nil {
		return Stack{}, err
	}
	s := Stack{Name: where.Name, AWS: cfg}
	if where.Local {
		s.Name = Local
	}
	if err := s.identify(ctx, where.Account); err != nil {
		return Stack{}, err
	}
	if err := s.find(ctx); err != nil {
		return Stack{}, err
	}
	s.Lambda = lambda.NewFromConfig(cfg, func(o *lambda.Options) { o.RetryMaxAttempts = 1 })
	return s, nil
}

// identify reads who the caller is, and refuses an account that is not the named one.
func (s *Stack) identify(ctx context.Context, account string) error {
	who, err := sts.NewFromConfig(s.AWS).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return s.Explain("asking who you are", err)
	}
	s.Operator, s.Account = aws.ToString(who.Arn), aws.ToString(who.Account)
	if account != "" && s.Account != account {
		return exit.With(exit.Denied, "your credentials are for the account %s, but --account names %s", s.Account, account)
	}
	return nil
}

func configuration(ctx context.Context, where Where) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if where.Local {
		file, err := filepath.Abs(localConfig)
		if _, missing := os.Stat(localConfig); err != nil || missing != nil {
			return aws.Config{}, exit.With(exit.Failed, "no local stack is running from this folder: start it with `make stack`")
		}
		options = append(options, config.WithSharedConfigFiles([]string{file}),
			config.WithSharedConfigProfile(Local), config.WithRegion("local"))
	}
	if where.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(where.Profile))
	}
	if where.Region != "" {
		options = append(options, config.WithRegion(where.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, exit.With(exit.Usage, "loading the AWS configuration: %v", err)
	}
	if cfg.Region == "" {
		return aws.Config{}, exit.With(exit.Usage, "no region: give --region, or set AWS_REGION")
	}
	return cfg, nil
}

// find reads the stack's outputs and parameters. Where there is no such stack, the error names Herald's stacks.
func (s *Stack) find(ctx context.Context) error {
	client := cloudformation.NewFromConfig(s.AWS)
	if s.Name == "" {
		known, err := heraldStacks(ctx, client)
		if err != nil {
			return s.Explain("looking for stacks, as --stack names none", err)
		}
		if len(known) != 1 {
			return exit.With(exit.Usage, "say which stack, with --stack: %s", listed(known, s.AWS.Region))
		}
		s.Name = known[0]
	}
	out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &s.Name})
	if err != nil || len(out.Stacks) == 0 {
		if known, listErr := heraldStacks(ctx, client); listErr == nil {
			return exit.With(exit.Failed, "no stack %s in %s: %s", s.Name, s.AWS.Region, listed(known, s.AWS.Region))
		}
		return s.Explain("looking for the stack "+s.Name, err)
	}
	s.Outputs, s.Parameters = map[string]string{}, map[string]string{}
	s.Functions = map[string]string{}
	s.Status = string(out.Stacks[0].StackStatus)
	for _, p := range out.Stacks[0].Parameters {
		s.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for _, o := range out.Stacks[0].Outputs {
		key, value := aws.ToString(o.OutputKey), aws.ToString(o.OutputValue)
		if folder, ok := strings.CutSuffix(key, "FunctionName"); ok {
			s.Functions[strings.ToLower(folder)] = value
		}
		s.Outputs[key] = value
	}
	if revoke := string(api.APIKeysRevoke); s.Functions[revoke] == "" { // of an older version: it has the function alone
		s.Functions[revoke] = s.Functions[string(api.APIKeys)]
	}
	return s.check()
}

func listed(stacks []string, region string) string {
	if len(stacks) == 0 {
		return "there is no Herald stack in " + region + "; is it the right region and account?"
	}
	return "the stacks are " + strings.Join(stacks, ", ")
}

// heraldStacks are the stacks of the Region with an output that says so. A tag would prove as little, and a
// name nothing.
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
