//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// useProfile makes the stack's profile all that AWS's clients learn from the environment of this process.
func useProfile() error {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			if err := os.Unsetenv(name); err != nil {
				return fmt.Errorf("clearing %s: %w", name, err)
			}
		}
	}
	for _, v := range append(operator.Environment(), "SAM_CLI_TELEMETRY=0") {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return nil
}

// shell runs a script and returns its output. The script's folder is like the checkout after `make stack`, on a machine
// that is configured for AWS.
func shell(t *testing.T, script string) string {
	t.Helper()
	folder := t.TempDir()
	for name, target := range map[string]string{
		".venv": filepath.Join(root, ".venv"), "infra": filepath.Join(root, "infra"),
		".local": filepath.Dir(filepath.Dir(operator.AWSConfigFile)),
	} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	defer alone()()
	cmd := exec.Command("bash", "-c", "exec 2>&1\nset -euo pipefail\n"+script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "AWS_CONFIG_FILE=", "AWS_PROFILE=", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=elsewhere", "AWS_SECRET_ACCESS_KEY=elsewhere")
	return execute(t, cmd)
}

// execute runs a command to its end and returns its output.
func execute(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
	defer cancel()
	var out, faults strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := child.Run(ctx, cmd); err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, &out, &faults)
	}
	return out.String()
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// blocks are the shell commands that a document shows under a heading, or anywhere, for the local stack instead of one
// on AWS.
func blocks(t *testing.T, document, heading string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "infra", "docs", document))
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	if heading != "" {
		_, text, _ = strings.Cut(text, "\n## "+heading+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
	}
	var script strings.Builder
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		if strings.Contains(block[1], " deploy ") || strings.Contains(block[1], "change_set") ||
			strings.HasPrefix(block[1], "herald ") {
			continue // the local stack takes no deployments, and the tests of herald play its commands
		}
		script.WriteString(strings.ReplaceAll(block[1], "herald-prod", "herald-local"))
	}
	if script.Len() == 0 {
		t.Fatalf("%s shows no commands %s", document, heading)
	}
	return script.String()
}

// prints fails the test for each text that a script's output lacks.
func prints(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("nothing printed %s:\n%s", want, out)
		}
	}
}

func TestTheCommandsThatTheStackPrintsWork(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	prints(t, shell(t, c.Commands()), s.Inbox.URL, `"next_cursor":null`, `"MessageId"`, `"queues":{`)
	if got := s.await(t, 1); string(got[0].Body) != `{"type":"user.created","data":{"userId":"user_42"}}` {
		t.Errorf("delivered %s", got[0].Body)
	}
}

// One document after the other: command lines take more of the machine than all that they ask for.
func TestTheDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	profile := operator.Export() + "\n"
	t.Run("README.md", func(t *testing.T) {
		prints(t, shell(t, profile+blocks(t, "../../README.md", "Publish an event")), `"MessageId"`)
	})
	t.Run("operator-api.md", func(t *testing.T) {
		prints(t, shell(t, profile+blocks(t, "operator-api.md", "")), `"queues":{`)
	})
	t.Run("deploy.md", func(t *testing.T) {
		const roles = `import boto3
iam = boto3.client("iam")
for role in "auth-service", "operators", "key-issuers":
    `
		python(t, roles+`iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")`)
		prints(t, shell(t, profile+blocks(t, "deploy.md", "")), `"SubscriptionArn"`, `"api_key":"hk_`)
		prints(t, python(t, roles+`print(role, iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"])`),
			"auth-service [{'PolicyName': 'herald-local-EventPublishers-",
			"operators [{'PolicyName': 'herald-local-InstanceManagers-",
			"key-issuers [{'PolicyName': 'herald-local-KeyIssuers-")
	})
}

func TestTheDocumentedSession(t *testing.T) {
	t.Parallel()
	out := shell(t, blocks(t, "api.md", ""))
	prints(t, out, `verified user.created {"type":"user.created","data":{"userId":"user_1"}}`, `"status":"disabled"`,
		`"status":"deleted"`, `"code":"validation_failed"`, `"secret_rotated_at":"2`, `"next_cursor":null`)
}

// python runs a script and returns its output.
func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	interpreter, err := tools.Python(root)
	if err != nil {
		t.Fatal(err)
	}
	defer alone()()
	cmd := exec.Command(interpreter, append([]string{"-c", script}, args...)...)
	cmd.Dir = t.TempDir()
	return execute(t, cmd)
}
