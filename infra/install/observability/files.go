package observability

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The files that are made, from the root of the repository. The table of metrics is the last part of its page.
const (
	Page      = "infra/docs/observability.md"
	Dashboard = "infra/install/observability/grafana.json"

	start = "\n## Metrics\n"
)

// Files are the files as the template and the metrics have them now, by path.
func Files(root string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, Page)) //nolint:gosec // of the repository
	if err != nil {
		return nil, fmt.Errorf("reading the page: %w", err)
	}
	before, _, found := bytes.Cut(text, []byte(start))
	if !found {
		return nil, fmt.Errorf("%s has no part %q", Page, start)
	}
	grafana, err := Grafana(root)
	if err != nil {
		return nil, err
	}
	made := "\n<!-- go generate ./infra/install/observability writes from here -->\n\n" +
		"Their namespace is `Herald/` and the stage, their only dimension `service`. A share has a 1 for each that counts\n" +
		"and a 0 for each other.\n\n" + Table() + "\n<!-- to here -->\n"
	return map[string][]byte{
		Page: slices.Concat(before, []byte(start), []byte(made)), Dashboard: grafana,
	}, nil
}
