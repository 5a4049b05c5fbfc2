// Package stack is a deployed stack as its operator uses it: its outputs and parameters, its operator functions, and
// the records that AWS has of it.
//
// It promises to act under the caller's own rights alone, to send requests only to functions and queues in the caller's
// account, to invoke a function once, and to name a remedy with each error of AWS. It keeps nothing.
package stack

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Local is the name of the local stack, and of the AWS profile that leads to it.
const Local = "herald-local"

// Stack is a deployed stack: the outputs of its template, and AWS as its caller may use it.
type Stack struct {
	Name     string
	Status   string // of the deployment, as CloudFormation says it
	Operator string // ARN of the caller, or the user of this machine on the local stack
	Account  string // the caller's

	Outputs, Parameters map[string]string // by the names in the template
	Functions           map[string]string // the names of the operator functions, by their folders

	AWS    aws.Config
	Lambda client.Invoker // without retries: a retry would act twice
}

// Changing reports whether a deployment of the stack is under way.
func (s Stack) Changing() bool { return strings.HasSuffix(s.Status, "_IN_PROGRESS") }

// Region is the AWS Region of the stack.
func (s Stack) Region() string { return s.AWS.Region }

// Stage is the parameter of that name, which the resources of the stack have as a tag.
func (s Stack) Stage() string { return s.Parameters[parameters.Stage] }

// Place says where the stack is. Its name alone does not: another Region or account may have the same.
func (s Stack) Place() string {
	words := s.Name + " in " + s.Region()
	if s.Account != "" {
		words += ", account " + s.Account
	}
	return answers.Safe(words)
}

// Describe says where the stack is, and which version is installed there.
func (s Stack) Describe() string {
	words := s.Place()
	if s.Stage() != "" {
		words += ", stage " + s.Stage()
	}
	if s.Outputs["Product"] != "" {
		words += ": " + s.Outputs["Product"]
	}
	return answers.Safe(words)
}

// product is how the output Product begins, which names the version, too.
const product = "Herald "

// functionForm is a name, which begins as a stack's, perhaps with an alias. The number of an
// account is none.
var functionForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*(:delete|:scan|:revoke)?$`)

// check refuses a stack that leads requests or events to another account. Requests may have secrets. The outputs cannot
// be trusted: the maker of a stack can write anything into them.
func (s *Stack) check() error {
	if !strings.HasPrefix(s.Outputs["Product"], product) || s.Functions["inspect"] == "" {
		return exit.With(exit.Failed,
			"%s is not a stack of Herald: it has no outputs Product and InspectFunctionName", s.Name)
	}
	for key, value := range s.Outputs {
		if strings.HasSuffix(key, "FunctionName") && !functionForm.MatchString(value) {
			return exit.With(exit.Denied,
				"the output %s of %s is no name of a function in your account, %s", key, s.Name, s.Account)
		}
	}
	queue, err := url.Parse(s.Outputs["EventsQueueUrl"])
	if err != nil || strings.Count(queue.Path, "/") != 2 || !strings.HasPrefix(queue.Path, "/"+s.Account+"/") {
		return exit.With(exit.Denied, "the output EventsQueueUrl of %s is no queue in your account, %s", s.Name, s.Account)
	}
	return nil
}
