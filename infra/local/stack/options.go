package stack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Options says which stack to start. The zero value starts this project's own from the working directory.
type Options struct {
	Root        string    // the checkout; default "."
	Dir         string    // state, logs, certificates and binaries; default Root/.local
	Template    string    // default Root/template.yaml
	SAMConfig   string    // default Root/samconfig.toml
	Environment string    // table of the samconfig file; default "local"
	StackName   string    // default "herald-local"
	Region      string    // default "us-east-1"
	Python      string    // default Root/.venv/bin/python, or else python3
	APIPort     int       // of the HTTP API; 0 takes a free one
	AWSPort     int       // of the AWS endpoint; 0 takes a free one
	MotoPort    int       // of the emulator behind it; 0 takes a free one
	Out         io.Writer // gets a line per step; default none
	// NoMappings leaves the queues alone, as if the functions behind them were paused.
	NoMappings bool
	// NoTenant issues no API key: for templates without the function that does.
	NoTenant bool
}

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
	o.StackName = cmp.Or(o.StackName, "herald-local")
	o.Region = cmp.Or(o.Region, "us-east-1")
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Python == "" {
		o.Python, err = findPython(root)
	}
	return o, err
}

// findPython prefers the interpreter that make installs.
func findPython(root string) (string, error) {
	own := filepath.Join(root, ".venv", "bin", "python")
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	const probe = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("moto", "flask", "samtranslator"))))`
	if system, err := exec.LookPath("python3"); err == nil && exec.Command(system, "-c", probe).Run() == nil { //nolint:gosec // the machine's own interpreter
		return system, nil
	}
	return "", errors.New("neither .venv/bin/python nor python3 has the AWS emulator (moto) and the SAM translator: run `make tools`")
}

func (o Options) script(name string) string { return filepath.Join(o.Root, "infra", "local", name) }
func (o Options) stateFile() string         { return filepath.Join(o.Dir, "stack.json") }
func (o Options) logs() string              { return filepath.Join(o.Dir, "logs") }

// say prints one line of progress.
func (o Options) say(format string, values ...any) {
	_, _ = fmt.Fprintf(o.Out, format+"\n", values...) // nobody reads: no reason to stop
}
