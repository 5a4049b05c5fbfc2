package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// badDay is something that goes wrong at first, by deploy.md.
type badDay struct {
	what, answer string   // AWS's, as deploy.md has it
	commands     string   // that AWS refuses
	held         []string // tests of the template's part in it, where the engine takes it
}

const probeRole = "arn:aws:iam::000000000000:role/probe"

// badDays come last, as some leave things behind.
var badDays = []badDay{
	{
		what: "a boundary that lacks a right", answer: "AccessDenied",
		commands: `aws iam create-policy --policy-name probe --query Policy.Arn --policy-document \
  '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","NotAction":"dynamodb:ListTables","Resource":"*"}]}'
aws iam create-role --role-name probe --query Role.Arn \
  --permissions-boundary arn:aws:iam::000000000000:policy/probe --assume-role-policy-document \
  '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}'
read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN < <(aws sts assume-role --output text \
  --role-arn ` + probeRole + ` --role-session-name probe \
  --query 'Credentials.[AccessKeyId,SecretAccessKey,SessionToken]')
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
aws dynamodb list-tables --query TableNames[0]`,
		held: []string{"TestAlarms_whereABoundaryLacksARight", "TestRolesAllowTheCallsOfTheirFunctions"},
	},
	{
		what: "a topic of another region", answer: "Invalid region",
		commands: `aws cloudwatch put-metric-alarm --alarm-name probe --namespace probe --metric-name probe --statistic Sum \
  --period 60 --evaluation-periods 1 --threshold 1 --comparison-operator GreaterThanThreshold \
  --alarm-actions arn:aws:sns:us-east-1:000000000000:herald-alarms`,
		held: []string{
			"TestAlarms_tellTheTopicOfTheirSeverityWhenTheyBeginAndEnd", "TestTerraform_refusesResourcesOfAnotherRegion",
			"TestCDK",
		},
	},
	{
		what: "a bucket in another region", answer: "PermanentRedirect",
		commands: `aws s3 mb s3://elsewhere --region us-east-1
aws s3 cp deploy.sh s3://elsewhere/deliver.zip --region us-east-1
aws lambda create-function --function-name probe --runtime provided.al2023 --handler bootstrap \
  --role ` + probeRole + ` --code S3Bucket=elsewhere,S3Key=deliver.zip --query FunctionArn`,
		held: []string{"TestInstall_changesOnlyWhereTheCodeIs"},
	},
	{
		what: "a missing archive", answer: "NoSuchKey",
		commands: `aws lambda create-function --function-name probe-missing --runtime provided.al2023 --handler bootstrap \
  --role ` + probeRole + ` --code S3Bucket=my-bucket,S3Key=missing.zip --query FunctionArn`,
		held: []string{"TestInstall_changesOnlyWhereTheCodeIs"},
	},
	{
		what: "a reservation among ten concurrent executions", answer: "UnreservedConcurrentExecution",
		commands: `aws lambda put-function-concurrency --reserved-concurrent-executions 5 \
  --function-name ` + stack + `-fanout`,
		held: []string{"TestNothingIsReservedInASmallAccount", "TestAlarms_onEveryDay"},
	},
}

// meet runs the commands of each bad day, and tells which the engine refuses as AWS does, and which it takes.
func meet(ctx context.Context, e *engine, folder string, days []badDay, log io.Writer) error {
	for _, d := range days {
		cmd := exec.CommandContext(ctx, "bash", "-eu", "-o", "pipefail", "-c", d.commands) //nolint:gosec // ours
		cmd.Dir, cmd.Env = folder, e.environment()
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return fmt.Errorf("%s: %w", d.what, err)
		}
		said, err := d.verdict(string(out), err != nil)
		if err != nil {
			return err
		}
		tell(log, "%s", said)
	}
	return nil
}

// verdict judges the engine's answer.
func (d badDay) verdict(printed string, refused bool) (string, error) {
	switch {
	case !refused:
		return fmt.Sprintf("not shown, as the engine takes it, and AWS answers %s: %s; see %s",
			d.answer, d.what, strings.Join(d.held, " and ")), nil
	case strings.Contains(printed, d.answer):
		return fmt.Sprintf("%s is refused with %s, as deploy.md says", d.what, d.answer), nil
	}
	return "", fmt.Errorf("%s: the engine says neither yes nor %s: %s", d.what, d.answer, strings.TrimSpace(printed))
}
