package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// headings of deploy.md that have the commands of a first deployment, in their order.
var headings = []string{"Before the first deployment", "Install a version", "After the first deployment"}

// leftOut are the commands that are not run, by their beginning, and why.
var leftOut = []struct{ command, reason string }{
	{"gh release download", "the package of `make package` is in its place"},
	{"(cd herald-1.0.0 && sha256sum", "the archives hold the functions' builds for this machine"},
}

// replaced are the words of the commands in place of which others are run, and why.
var replaced = []struct{ word, with, reason string }{
	{
		"/parameters-prod.txt)",
		"/parameters-prod.txt) Stage=local EgressAllowCidrs=127.0.0.1/32 EgressAllowPorts=1024-65535",
		"the receiver of the rehearsal listens on loopback, which only this stage lets deliveries reach",
	},
}

// prepared makes the bucket and the roles that deploy.md takes for granted.
const prepared = `aws s3 mb s3://my-bucket
for role in auth-service operators key-issuers; do
  aws iam create-role --role-name $role --query Role.Arn \
    --assume-role-policy-document '{"Version":"2012-10-17","Statement":[]}'
done
`

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// script returns the commands that deploy.md shows under the headings, and a line for each command that was left out or
// changed.
func script(document string) (commands string, differences []string, err error) {
	var b strings.Builder
	for _, heading := range headings {
		_, section, found := strings.Cut(document, "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		blocks := shellBlock.FindAllStringSubmatch(section, -1)
		if !found || len(blocks) == 0 {
			return "", nil, fmt.Errorf("deploy.md shows no commands under %q", heading)
		}
		for _, block := range blocks {
			b.WriteString(block[1])
		}
	}
	commands = b.String()
	for _, one := range leftOut {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(one.command) + `(?:[^\n]*\\\n)*[^\n]*\n`)
		found := line.FindString(commands)
		if found == "" {
			return "", nil, fmt.Errorf("deploy.md has no command %q, which the rehearsal leaves out", one.command)
		}
		commands = strings.Replace(commands, found, "", 1)
		differences = append(differences, fmt.Sprintf("not run: %s: %s", strings.TrimSpace(found), one.reason))
	}
	for _, one := range replaced {
		if !strings.Contains(commands, one.word) {
			return "", nil, fmt.Errorf("deploy.md has no %q, which the rehearsal replaces", one.word)
		}
		commands = strings.ReplaceAll(commands, one.word, one.with)
		differences = append(differences, fmt.Sprintf("replaced: %s by %s: %s", one.word, one.with, one.reason))
	}
	return commands, differences, nil
}

// folderName is the folder into which deploy.md downloads a release.
func folderName(document string) (string, error) {
	named := regexp.MustCompile(`gh release download \S+ --repo \S+ --dir (\S+)`).FindStringSubmatch(document)
	if named == nil {
		return "", errors.New("deploy.md does not say where a release is downloaded to")
	}
	return named[1], nil
}

// deploy runs deploy.md's commands against the engine in the folder of a package, and returns their output.
func deploy(ctx context.Context, e *engine, folder, commands string, log io.Writer) (string, error) {
	file := filepath.Join(folder, "deploy.sh")
	if err := os.WriteFile(file, []byte(prepared+commands), 0o600); err != nil {
		return "", fmt.Errorf("writing the commands: %w", err)
	}
	cmd := exec.Command("bash", "-eu", "-o", "pipefail", "-x", file) //nolint:gosec // deploy.md's own commands
	var out bytes.Buffer
	cmd.Dir, cmd.Env = folder, e.environment()
	shown := &wholeLines{to: log}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, shown), shown
	if err := child.Run(ctx, cmd); err != nil {
		return "", fmt.Errorf("deploy.md's commands: %w", err)
	}
	return out.String(), nil
}

// wholeLines passes on whole lines, as they stand after the last carriage return: no progress of an upload.
type wholeLines struct {
	to io.Writer

	mu   sync.Mutex // the two streams of a command write at once
	line []byte
}

func (s *wholeLines) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = append(s.line, p...)
	for {
		line, rest, whole := bytes.Cut(s.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		if _, err := s.to.Write(append(slices.Clone(line), '\n')); err != nil {
			return 0, fmt.Errorf("printing: %w", err)
		}
		s.line = rest
	}
}
