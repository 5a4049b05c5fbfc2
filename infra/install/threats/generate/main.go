// Command generate writes the tables of infra/docs/security.md from the tests that show a defence.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/install/threats"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	text, err := threats.With(*root)
	if err == nil {
		err = os.WriteFile(filepath.Join(*root, threats.Document), text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
