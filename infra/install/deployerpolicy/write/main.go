// Package main writes the policy of the one who deploys, infra/docs/deployer-policy.json.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/install/deployerpolicy"
)

func main() {
	if err := run(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, "deployerpolicy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string) error {
	text, err := deployerpolicy.Generate(ctx, root)
	if err != nil {
		return fmt.Errorf("the policy: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, deployerpolicy.File), text, 0o600); err != nil {
		return fmt.Errorf("writing the policy: %w", err)
	}
	return nil
}
