package observability

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The files that are made, from the root of the repository. The table of metrics is the end of its page.
const (
	Page      = "infra/docs/observability.md"
	Dashboard = "infra/install/observability/grafana.json"

	start = "<!-- go generate ./infra/install/observability writes from here -->\n\n"
	end   = "\n<!-- to here -->\n"
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
	return map[string][]byte{
		Page: slices.Concat(before, []byte(start+Table()+end)), Dashboard: grafana,
	}, nil
}
