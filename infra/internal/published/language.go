// Package published runs the receivers of infra/examples that the documents publish, each as a
// child on loopback, and does the work that they hand on: a test says for each delivery whether the work
// succeeds, fails or waits.
//
// It promises to run the very files that the documents show or link to, behind a few lines that start it, and that a
// missing tool is an error that names it. It never skips a language.
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
	Name string // of its folder in infra/examples/receiver
	// NoChunks is its answer to a body of unknown length, 0 if it takes one.
	NoChunks int

	tools   []string               // must be installed
	build   func(p Place) []string // the command that builds it, nil where nothing is built
	command func(p Place) []string // the command that starts it
}

// Place is where a receiver is built and run.
type Place struct {
	Root    string // the checkout
	Scratch string // a folder for builds and caches, of this caller alone
}

// Languages are all that the documents publish.
func Languages() []Language {
	return []Language{
		{Name: "go", tools: []string{"go"}, build: goBuild("go"), command: serve()},
		{Name: "node", tools: []string{"node"}, command: script("node", "node", "main.mjs")},
		{Name: "python", NoChunks: 411, tools: []string{"python3"}, command: script("python", "python3", "-B", "main.py")},
		{
			Name: "java", tools: []string{"javac", "java"},
			build: func(p Place) []string {
				return []string{"javac", "-d", p.Scratch, p.source("java", "Receiver.java"), p.source("java", "Main.java")}
			},
			command: func(p Place) []string { return []string{"java", "-cp", p.Scratch, "Main"} },
		},
		{Name: "ruby", NoChunks: 411, tools: []string{"ruby"}, command: script("ruby", "ruby", "main.rb")},
		{
			Name: "php", NoChunks: 400, tools: []string{"go", "php-cgi"}, build: goBuild("php"),
			command: func(p Place) []string { return append(serve()(p), p.source("php", "main.php"), p.Scratch) },
		},
		{
			Name: "rust", tools: []string{"cargo"},
			build: func(p Place) []string {
				return []string{"cargo", "build", "--manifest-path", p.source("rust", "Cargo.toml"), "--target-dir", p.kept()}
			},
			command: func(p Place) []string { return []string{filepath.Join(p.kept(), "debug", "receiver")} },
		},
	}
}

// goBuild builds the program that starts a language's receiver.
func goBuild(language string) func(Place) []string {
	return func(p Place) []string { return []string{"go", "build", "-o", p.Scratch, p.source(language, "serve")} }
}

// serve is the command that goBuild has built.
func serve() func(Place) []string {
	return func(p Place) []string { return []string{filepath.Join(p.Scratch, "serve")} }
}

// script is the command of an interpreter; its last word is a file of the language's folder.
func script(language string, words ...string) func(Place) []string {
	return func(p Place) []string {
		last := len(words) - 1
		return append(append([]string(nil), words[:last]...), p.source(language, words[last]))
	}
}

// source is the path of a language's file.
func (p Place) source(language, file string) string {
	return filepath.Join(p.Root, "infra", "examples", "receiver", language, file)
}

// kept is where Cargo keeps its builds from run to run, the same for all callers.
func (p Place) kept() string { return filepath.Join(p.Root, ".local", "cargo") }

// prepare looks for the language's tools and builds the receiver.
func (l Language) prepare(ctx context.Context, p Place) error {
	for _, tool := range l.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing: %w", tool, err)
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
