package docs_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

var action = regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)

// A tag can be moved to other code.
func TestActionsArePinnedByTheirCommits(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		name := filepath.Join(".github", "workflows", filepath.Base(file))
		for _, used := range action.FindAllStringSubmatch(readFile(t, name), -1) {
			if !pinned.MatchString(used[1]) {
				t.Errorf("%s uses %s", name, used[1])
			}
		}
	}
}

// An index or a mirror can serve another file under a version that is known.
//
// Threat of a page: a dependency, a tool or an action is exchanged. Held by: checksums, hashes, commits, one
// toolchain.
func TestPythonToolsAreInstalledByTheirHashes(t *testing.T) {
	release := regexp.MustCompile(`^[\w.-]+==\S+ \\$`)
	named := regexp.MustCompile(`(?m)^([\w.-]+)(?:\[\w+\])?==(\S+)`)
	for _, folder := range []string{"infra", "infra/clients", "infra/examples/outbox/python"} {
		locked := readFile(t, folder+"/requirements.txt")
		for entry := range strings.SplitSeq(strings.ReplaceAll(locked, " \\\n    --hash=sha256:", " \\ "), "\n") {
			line, hashes, _ := strings.Cut(entry, " \\ ")
			if entry != "" && entry[0] != '#' && (!release.MatchString(line+" \\") || len(hashes) < 64) {
				t.Errorf("%s: %.60q has no hash", folder, entry)
			}
		}
		for _, tool := range named.FindAllStringSubmatch(readFile(t, folder+"/requirements.in"), -1) {
			if !strings.Contains(locked, "\n"+tool[1]+"=="+tool[2]+" \\\n") {
				t.Errorf("%s: %s %s is not locked", folder, tool[1], tool[2])
			}
		}
	}
	for line := range strings.Lines(readFile(t, "Makefile")) {
		if strings.Contains(line, "/pip install ") && !strings.Contains(line, " --require-hashes --no-deps ") {
			t.Errorf("whatever the index serves is installed: %s", line)
		}
	}
}

// job is a job of a workflow, as far as its rights go.
type job struct {
	Needs       []string          `yaml:"needs"`
	Permissions map[string]string `yaml:"permissions"`
	Steps       []step            `yaml:"steps"`
}

type step struct {
	Uses string `yaml:"uses"`
	Run  string `yaml:"run"`
}

// UnmarshalYAML reads a single need like a list of one.
func (j *job) UnmarshalYAML(node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if needs := node.Content[i+1]; node.Content[i].Value == "needs" && needs.Kind == yaml.ScalarNode {
			node.Content[i+1] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{needs}}
		}
	}
	type plain job
	return node.Decode((*plain)(j))
}

func readJobs(t *testing.T, workflow string) map[string]job {
	t.Helper()
	var read struct {
		Permissions map[string]string
		Jobs        map[string]job
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/workflows/"+workflow)), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Permissions) != 0 {
		t.Errorf("%s: jobs without permissions of their own get %v", workflow, read.Permissions)
	}
	return read.Jobs
}

// No release may contain untested or vulnerable code, and no code of a dependency may be able to publish a release.
//
// Threat of a page: a release has untested code. Held by: the job that publishes runs none of ours.
func TestAReleaseIsTestedAndPublishedByAJobThatRunsNoCodeOfOurs(t *testing.T) {
	jobs := readJobs(t, "release.yml")
	needs := map[string][]string{}
	for name, j := range jobs {
		needs[name] = j.Needs
	}
	want := map[string][]string{
		"test": nil, "vulnerabilities": nil, "build": {"test", "vulnerabilities"}, "publish": {"build"},
	}
	if diff := cmp.Diff(want, needs); diff != "" {
		t.Errorf("jobs and what they wait for (-want +got):\n%s", diff)
	}
	for name, command := range map[string]string{
		"test": ".ci/run", "vulnerabilities": "make vulns", "build": "make package",
	} {
		if !slices.ContainsFunc(jobs[name].Steps, func(s step) bool { return strings.HasPrefix(s.Run, command) }) {
			t.Errorf("job %s does not run %s", name, command)
		}
		if rights := jobs[name].Permissions; !maps.Equal(rights, map[string]string{"contents": "read"}) {
			t.Errorf("job %s has the rights %v", name, rights)
		}
	}
	runs := func(name, command string) bool {
		return slices.ContainsFunc(jobs[name].Steps, func(s step) bool { return strings.Contains(s.Run, command) })
	}
	if !runs("build", "make handbook") || !runs("publish", "git push --quiet --force") {
		t.Error("the documents are not published as a site")
	}
	attested := false
	for _, step := range jobs["publish"].Steps {
		if strings.HasPrefix(step.Uses, "actions/checkout@") || strings.Contains(step.Run, "make ") {
			t.Errorf("the job that publishes runs code of this repository: %s%s", step.Uses, step.Run)
		}
		attested = attested || strings.HasPrefix(step.Uses, "actions/attest-build-provenance@")
	}
	if !attested {
		t.Error("what is published has no attestation")
	}
}

// Runners no longer have Node 20; these are the first major versions that need none of it.
func TestActionsRunOnASupportedRuntime(t *testing.T) {
	least := map[string]int{
		"checkout": 5, "setup-go": 6, "setup-python": 6, "cache": 5, "upload-artifact": 6, "download-artifact": 7,
		"attest-build-provenance": 4,
	}
	version := regexp.MustCompile(`uses: actions/([\w-]+)@[0-9a-f]{40} # v(\d+)\.`)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		text := readFile(t, filepath.Join(".github", "workflows", filepath.Base(file)))
		used := version.FindAllStringSubmatch(text, -1)
		if len(used) != len(action.FindAllString(text, -1)) {
			t.Errorf("%s uses an action of others, or one without a version", file)
		}
		for _, u := range used {
			major, err := strconv.Atoi(u[2])
			if first, known := least[u[1]]; err != nil || !known || major < first {
				t.Errorf("%s uses %s v%s, want v%d or newer", filepath.Base(file), u[1], u[2], first)
			}
		}
	}
}
