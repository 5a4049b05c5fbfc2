package stack

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// Options says which stack to start. The zero value starts this project's own from the working directory.
type Options struct {
	Root       string    // the checkout; default "."
	Dir        string    // state, logs, certificates and binaries; default Root/.local
	Parameters []string  // of the template, "Name=Value"; they win over those of samconfig.toml
	APIPort    string    // of the HTTP API; default: a free one
	AWSPort    string    // of the AWS endpoint; default: a free one
	Out        io.Writer // gets a line per step; default none
}

const (
	stackName = "herald-local"
	region    = "local" // none of AWS's own (.github/CONTRIBUTING.md, "The local stack")
)

// complete fills the defaults in and makes every path absolute.
func (o Options) complete() (_ Options, err error) {
	o.Root, err = filepath.Abs(o.Root)
	if err != nil {
		return o, fmt.Errorf("finding the checkout: %w", err)
	}
	o.Dir, err = filepath.Abs(cmp.Or(o.Dir, filepath.Join(o.Root, ".local")))
	if err != nil {
		return o, fmt.Errorf("finding the stack's folder: %w", err)
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	return o, nil
}

func (o Options) stateFile() string { return filepath.Join(o.Dir, statefile.Name) }
func (o Options) logs() string      { return filepath.Join(o.Dir, "logs") }

// say prints one line of progress.
func (o Options) say(format string, values ...any) {
	_, _ = fmt.Fprintf(o.Out, format+"\n", values...) // a closed output is no reason to stop
}
