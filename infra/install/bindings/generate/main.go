// Package main writes the Terraform variables and the CDK properties for the parameters and outputs of the template,
// below infra/install/terraform and infra/install/cdk, and the Go constants of the parameters' names.
//
// It promises files that depend on nothing but the template, the additions of make package and the next version. It
// reads and writes below the checkout only.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/install/bindings"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "bindings:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := bindings.Files(root)
	if err != nil {
		return fmt.Errorf("reading the template: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil { //nolint:gosec // source code
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}
