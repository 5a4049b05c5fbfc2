package stack

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Options says which stack to start. The zero value starts this project's own from the working directory.
type Options struct {
	Root        string    // the checkout; default "."
	Dir         string    // state, logs, certificates and binaries; default Root/.local
	Template    string    // default Root/template.yaml
	SAMConfig   string    // default Root/samconfig.toml
	Environment string    // table of the samconfig file; default "local"
	Parameters  []string  // of the template, "Name=Value"; they win over the samconfig file's
	Python      string    // default: see package tools
	APIPort     string    // of the HTTP API; default: a free one
	AWSPort     string    // of the AWS endpoint; default: a free one
	Out         io.Writer // gets a line per step; default none
}

const (
	stackName = "herald-local"
	region    = "local" // none of AWS's own (infra/docs/local-stack.md)
)

// complete fills the defaults in and makes every path absolute.
func (o Options) complete() (Options, error) {
	root, err := filepath.Abs(cmp.Or(o.Root, "."))
	if err != nil {
		return o, fmt.Errorf("finding the checkout: %w", err)
	}
	o.Root = root
	o.Dir = cmp.Or(o.Dir, filepath.Join(root, ".local"))
	o.Template = cmp.Or(o.Template, filepath.Join(root, "template.yaml"))
	o.SAMConfig = cmp.Or(o.SAMConfig, filepath.Join(root, "samconfig.toml"))
	for _, path := range []*string{&o.Dir, &o.Template, &o.SAMConfig} {
		if *path, err = filepath.Abs(*path); err != nil {
			return o, fmt.Errorf("finding %s: %w", *path, err)
		}
	}
	o.Environment = cmp.Or(o.Environment, "local")
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Python == "" {
		o.Python, err = tools.Python(root)
	}
	return o, err
}

func (o Options) script(name string) string { return filepath.Join(o.Root, "infra", "local", name) }
func (o Options) stateFile() string         { return filepath.Join(o.Dir, statefile.Name) }
func (o Options) logs() string              { return filepath.Join(o.Dir, "logs") }

// say prints one line of progress.
func (o Options) say(format string, values ...any) {
	_, _ = fmt.Fprintf(o.Out, format+"\n", values...) // nobody reads: no reason to stop
}
