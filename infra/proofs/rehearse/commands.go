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

// prepared runs before deploy.md's commands, which then run word for word. It makes the bucket and the roles that
// deploy.md takes for granted, and says what else the rehearsal has in the place of something.
const prepared = `# The package is here already, and its archives hold the functions' builds for this machine.
gh() { echo "not run: gh $*"; }
sha256sum() { echo "not run: sha256sum $*"; }
# The engine does not validate change sets.
aws() { case "$2" in describe-events) echo "not run: aws $*" ;; *) command aws "$@" ;; esac; }
# The receiver of the rehearsal listens on loopback, which only this stage lets deliveries reach.
echo Stage=local EgressAllowCidrs=127.0.0.1/32 EgressAllowPorts=1024-65535 >> */parameters-prod.txt
aws s3 mb s3://my-bucket
for role in auth-service operators key-issuers; do
  aws iam create-role --role-name $role --query Role.Arn \
    --assume-role-policy-document '{"Version":"2012-10-17","Statement":[]}'
done
`

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// script returns the commands that deploy.md shows under the headings.
func script(document string) (commands string, err error) {
	for _, heading := range headings {
		_, section, found := strings.Cut(document, "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		blocks := shellBlock.FindAllStringSubmatch(section, -1)
		if !found || len(blocks) == 0 {
			return "", fmt.Errorf("deploy.md shows no commands under %q", heading)
		}
		for _, block := range blocks {
			commands += block[1]
		}
	}
	return commands, nil
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
	err := os.WriteFile(file, []byte(prepared+commands), 0o600) //nolint:gosec // in the rehearsal's own folder
	if err != nil {
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
