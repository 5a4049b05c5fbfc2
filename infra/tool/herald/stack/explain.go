package stack

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Explain adds a remedy to an error of AWS.
func (s Stack) Explain(doing string, err error) error {
	var api smithy.APIError
	var refused *net.OpError
	code := ""
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch {
	case strings.Contains(code, "Expired"):
		return exit.With(exit.Denied, "%s: your AWS credentials have expired: log in again", doing)
	case strings.Contains(code, "AccessDenied"), strings.Contains(code, "UnrecognizedClient"),
		strings.Contains(code, "InvalidClientTokenId"):
		return exit.With(exit.Denied, "%s: you have no right to do that%s; the stack's policy InstanceManagers has an "+
			"operator's rights, Deleters those to delete, SubscriptionReaders those to read all tenants' subscriptions, "+
			"KeyIssuers those to issue keys and import (%s)",
			doing, wanted(err), api.ErrorMessage())
	case strings.Contains(code, "ResourceNotFound"):
		// An older release, to which the stack may have been rolled back, lacks the aliases of functions that came later.
		return exit.With(exit.Failed, "%s: the stack %s is gone, is being replaced, or has an older release than this "+
			"herald: use the herald of its release", doing, s.Name)
	case errors.As(err, &refused) && s.Name == Local:
		return exit.With(exit.Failed, "%s: the local stack is gone: start it, then run this again", doing)
	case errors.As(err, &refused):
		return exit.With(exit.Failed, "%s: AWS cannot be reached: %v", doing, refused)
	case code == "" && strings.Contains(err.Error(), "credentials"):
		return exit.With(exit.Denied, "%s: no AWS credentials: log in, or give --profile", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// policyNames are the names of services in policies, by the SDK's.
var policyNames = map[string]string{
	"CloudFormation": "cloudformation", "CloudWatch": "cloudwatch", "CloudWatch Logs": "logs", "Lambda": "lambda",
	"SQS": "sqs", "STS": "sts",
}

// wanted names the action that a refused request takes, in brackets.
func wanted(err error) string {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) || policyNames[operation.Service()] == "" {
		return ""
	}
	name := operation.Operation()
	if name == "Invoke" { // the one that is named otherwise
		name = "InvokeFunction"
	}
	return " (" + policyNames[operation.Service()] + ":" + name + ")"
}
