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
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// Language is one in which a receiver is published.
type Language struct {
	Name string // of its folder in infra/examples/receiver
	// NoChunks is its answer to a body of unknown length, 0 if it takes one.
	NoChunks int

	tools   []string // must be installed
	build   string   // the command that builds it, "" where nothing is built
	command string   // the command that starts it
}

// Place is where a receiver is built and run.
type Place struct {
	Root    string // the checkout
	Scratch string // a folder for builds and caches, of this caller alone
}

// Languages are the languages in which the documents publish a receiver. [Language.words] says what the folders in
// their commands are.
func Languages() []Language {
	const goBuild, serve = "go build -o $SCRATCH $SOURCE/serve", "$SCRATCH/serve"
	return []Language{
		{Name: "go", tools: []string{"go"}, build: goBuild, command: serve},
		{Name: "node", tools: []string{"node"}, command: "node $SOURCE/main.mjs"},
		{Name: "python", NoChunks: 411, tools: []string{"python3"}, command: "python3 -B $SOURCE/main.py"},
		{
			Name: "java", tools: []string{"javac", "java"},
			build:   "javac -d $SCRATCH $SOURCE/Receiver.java $SOURCE/Main.java",
			command: "java -cp $SCRATCH Main",
		},
		{Name: "ruby", NoChunks: 411, tools: []string{"ruby"}, command: "ruby $SOURCE/main.rb"},
		{
			Name: "php", NoChunks: 400, tools: []string{"go", "php-cgi"},
			build: goBuild, command: serve + " $SOURCE/main.php $SCRATCH",
		},
		{
			Name: "rust", tools: []string{"cargo"},
			build:   "cargo build --manifest-path $SOURCE/Cargo.toml --target-dir $KEPT",
			command: "$KEPT/debug/receiver",
		},
	}
}

// words splits a command, after filling in its folders: the language's own folder, the caller's, and the folder of
// Cargo's builds. Cargo's folder is the same for all callers and stays from run to run.
func (l Language) words(command string, p Place) []string {
	folders := map[string]string{
		"SOURCE":  filepath.Join(p.Root, "infra", "examples", "receiver", l.Name),
		"SCRATCH": p.Scratch,
		"KEPT":    filepath.Join(p.Root, ".local", "cargo"),
	}
	words := strings.Fields(command)
	for n, word := range words {
		words[n] = os.Expand(word, func(name string) string { return folders[name] })
	}
	return words
}

// prepare looks for the language's tools and builds the receiver.
func (l Language) prepare(ctx context.Context, p Place, printed io.Writer) error {
	for _, tool := range l.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing: %w", tool, err)
		}
	}
	if l.build == "" {
		return nil
	}
	words := l.words(l.build, p)
	cmd := exec.Command(words[0], words[1:]...) //nolint:gosec // our own table; child.Run ends it
	cmd.Dir = p.Root
	cmd.Stdout = printed
	cmd.Stderr = printed
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("building: %w", err)
	}
	return nil
}
