// Command generate writes the fields of the operators' language into infra/docs/operator-api.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/install/shapes"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	text, err := shapes.With(*root)
	if err == nil {
		err = os.WriteFile(filepath.Join(*root, shapes.Document), text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
