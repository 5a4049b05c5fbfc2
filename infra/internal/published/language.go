// Package published runs the receivers that README.md and infra/docs/receivers.md publish, each as a
// child on loopback, and does their work: a test says for each delivery whether the work succeeds,
// fails or waits.
//
// It promises that what runs is the code the documents show, behind a few lines that start it, and
// that a missing tool is an error that names it. It never skips a language.
package published

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// Language is one in which a receiver is published.
type Language struct {
	Name string
	// Chunked says that it takes bodies of unknown length; one that does not answers 411.
	Chunked bool

	tools   []string               // what must be installed
	build   func(p Place) []string // the command that builds it, nil where nothing is built
	command func(p Place) []string // the command that starts it
}

// Place is where a receiver is built and run.
type Place struct {
	Root    string // the checkout
	Scratch string // a folder for what is built, of this caller alone
}

// Languages are all that the documents publish, named after their folders in infra/examples/receiver.
func Languages() []Language {
	return []Language{
		{
			Name: "go", Chunked: true, tools: []string{"go"},
			build:   func(p Place) []string { return []string{"go", "build", "-o", p.Scratch, p.source("go", "serve")} },
			command: func(p Place) []string { return []string{filepath.Join(p.Scratch, "serve")} },
		},
		{
			Name: "node", Chunked: true, tools: []string{"node"},
			command: func(p Place) []string { return []string{"node", p.source("node", "main.mjs")} },
		},
		{
			Name: "python", tools: []string{"python3"},
			command: func(p Place) []string { return []string{"python3", "-B", p.source("python", "main.py")} },
		},
	}
}

// source is the path of a language's file.
func (p Place) source(language, file string) string {
	return filepath.Join(p.Root, "infra", "examples", "receiver", language, file)
}

// prepare looks for the language's tools and builds the receiver.
func (l Language) prepare(ctx context.Context, p Place) error {
	for _, tool := range l.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing, which .ci/run installs or asks for: %w", tool, err)
		}
	}
	if l.build == nil {
		return nil
	}
	words := l.build(p)
	cmd := exec.Command(words[0], words[1:]...) //nolint:gosec // our own table; child.Run ends it
	var printed output
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Root, &printed, &printed
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("building: %w\n%s", err, printed.String())
	}
	return nil
}
