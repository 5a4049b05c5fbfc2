package rights

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

//go:embed evaluate.mjs
var script string

// SecondOpinion is the verdict of the other evaluator on each call, or its refusal to judge one. It needs the tools of
// the checkout. It ignores condition keys that AWS's reference does not have for an action.
func SecondOpinion(ctx context.Context, root string, calls []Call) ([]string, error) {
	input, err := json.Marshal(calls)
	if err != nil {
		return nil, fmt.Errorf("encoding the calls: %w", err)
	}
	tools, err := filepath.Abs(filepath.Join(root, ".tools"))
	if err != nil {
		return nil, fmt.Errorf("finding the tools: %w", err)
	}
	var out, problems bytes.Buffer
	cmd := exec.Command(filepath.Join(tools, "bin", "node"), //nolint:gosec // the tools'
		"--input-type=module", "--eval", script, filepath.Join(tools, "openapi"))
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := child.Run(ctx, cmd); err != nil {
		return nil, fmt.Errorf("evaluating: %w: %s", err, &problems)
	}
	var results []string
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		return nil, fmt.Errorf("decoding the results: %w", err)
	}
	if len(results) != len(calls) {
		return nil, fmt.Errorf("evaluating: %d results for %d calls", len(results), len(calls))
	}
	return results, nil
}
