package template

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sdk is the folder of the SDK's clients.
const sdk = "github.com/aws/aws-sdk-go-v2/service/"

// prefixes are the names of services in policies, where they differ from the SDK's.
var prefixes = map[string]string{"cloudwatchlogs": "logs"}

// actionOf is the action that a request of the SDK takes.
func actionOf(service, operation string) string {
	if prefix := prefixes[service]; prefix != "" {
		service = prefix
	}
	if operation == "Invoke" {
		operation = "InvokeFunction"
	}
	return service + ":" + operation
}

// requestsOf are the actions of the SDK's requests that a file makes, by their inputs.
func requestsOf(t *testing.T, path string) (actions []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]string{}
	for _, i := range file.Imports {
		from, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		service, ok := strings.CutPrefix(from, sdk)
		if !ok || strings.Contains(service, "/") {
			continue
		}
		if i.Name != nil {
			t.Errorf("%s: %s has another name", path, from)
		}
		services[service] = service
	}
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		kind, ok := literal.Type.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		operation, isInput := strings.CutSuffix(kind.Sel.Name, "Input")
		if service := services[fmt.Sprint(kind.X)]; isInput && service != "" {
			actions = append(actions, actionOf(service, operation))
		}
		return true
	})
	return actions
}

// toolsRequests are the actions of herald's own requests to AWS.
func toolsRequests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "infra/tool/herald"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, action := range requestsOf(t, path) {
			found[action] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// deployersOnly are the actions of herald code, and of herald stop and herald start by recovery.md. They need the
// rights of those who deploy, which no policy of the stack grants.
var deployersOnly = []string{
	"lambda:GetEventSourceMapping", "lambda:GetFunctionConfiguration", "lambda:ListTags", "lambda:TagResource",
	"lambda:UntagResource", "lambda:UpdateEventSourceMapping", "scheduler:GetSchedule", "scheduler:UpdateSchedule",
}

// samOnly are the actions that the SAM CLI alone takes, to find a function.
var samOnly = []string{"cloudformation:DescribeStackResource", "cloudformation:DescribeStackResources"}

// Where a policy lacks a request, the operator meets AccessDenied in the night. A right without a request is one too
// many. ListStackResources is in infra/kit/client.
//
// Threat of an operator: uses the right to read traffic for more. Held by: it reads `deliver`'s log, and the region's
// metrics and alarms.
func TestPoliciesAllowTheRequestsOfTheTool(t *testing.T) {
	tpl, allowed := load(t), map[string]bool{}
	for _, policy := range []string{
		"EventPublishers", "InstanceManagers", "Deleters", "SubscriptionReaders", "KeyIssuers",
	} {
		for _, s := range statements(tpl.Resources[policy].Properties["PolicyDocument"]) {
			for _, action := range list(s["Action"]) {
				allowed[fmt.Sprint(action)] = true
			}
		}
	}
	for _, action := range deployersOnly {
		if allowed[action] {
			t.Errorf("a policy for operators allows %s", action)
		}
		allowed[action] = true
	}
	want := toolsRequests(t)
	want["cloudformation:ListStackResources"] = true
	for _, action := range samOnly {
		want[action] = true
	}
	allowed["sts:GetCallerIdentity"] = true // AWS wants no right for it
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("rights (-the tool asks +allowed):\n%s", diff)
	}
}
