// Package deployerpolicy makes the IAM policy for the role that deploys Herald. It allows the actions that
// CloudFormation calls, with that role's rights, for the types of resources in the translated template.
//
// The actions come from AWS's schemas of these types. The package promises to name every one of them, or to say why it
// is left out. It restricts an action to resources with the stack's name wherever AWS's reference says that this is
// possible.
package deployerpolicy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// File is the policy, from the root of the checkout.
const File = "infra/docs/deployer-policy.json"

// Bounds is a policy that bounds the deployer: it denies what would lead around a boundary of the stack's roles.
const Bounds = "infra/docs/deployer-bounds.json"

// Gradual are the types of resources that the template of a package adds, for gradual updates.
var Gradual = []string{
	"AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup", "AWS::Lambda::Alias", "AWS::Lambda::Version",
}

// Generate returns the policy's text for the template of a checkout.
func Generate(ctx context.Context, root string) ([]byte, error) {
	kinds, err := Types(ctx, root)
	if err != nil {
		return nil, err
	}
	byType, err := permissions(ctx, root, kinds)
	if err != nil {
		return nil, err
	}
	bounded, err := reaches(root, needed(byType))
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(write(byType, bounded), "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the policy: %w", err)
	}
	return append(text, '\n'), nil
}

// Types are the types of all resources after SAM's transform, whatever the template's conditions say, and those
// that the package of a version adds.
func Types(ctx context.Context, root string) ([]string, error) {
	t, err := sam.Translate(ctx, sam.Source{Root: root, Environment: "default"})
	if err != nil {
		return nil, fmt.Errorf("the resources: %w", err)
	}
	found := map[string]bool{}
	for _, r := range cfn.Of(t.Body).Resources {
		found[r.Type] = true
	}
	for _, kind := range Gradual {
		found[kind] = true
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// permissions are the actions of the handlers, by type of resource.
func permissions(ctx context.Context, root string, kinds []string) (map[string][]string, error) {
	python, err := tools.Python(root)
	if err != nil {
		return nil, err
	}
	var out, problems bytes.Buffer
	script := filepath.Join(root, "infra", "install", "deployerpolicy", "permissions.py")
	cmd := exec.Command(python, append([]string{script}, kinds...)...) //nolint:gosec // this project's own script
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := child.Run(ctx, cmd); err != nil {
		return nil, fmt.Errorf("reading schemas: %w: %s", err, problems.String())
	}
	byType := map[string][]string{}
	if err := json.Unmarshal(out.Bytes(), &byType); err != nil {
		return nil, fmt.Errorf("decoding permissions: %w", err)
	}
	return byType, nil
}
