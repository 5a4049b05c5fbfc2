// Command generate writes the fields of the operators' language into infra/docs/operator-api.md, and
// the alarms and the reasons of deliveries into the runbook.
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
	for document, made := range map[string]func(root string) ([]byte, error){
		shapes.Document: shapes.With, shapes.Runbook: shapes.WithRunbook,
	} {
		text, err := made(*root)
		if err == nil {
			err = os.WriteFile(filepath.Join(*root, document), text, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
