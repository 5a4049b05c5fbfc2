// Command generate writes the table of metrics and the dashboard for Grafana.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/install/observability"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	files, err := observability.Files(*root)
	for path, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(*root, path), text, 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
