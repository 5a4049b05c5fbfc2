package docs_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// A pin that nothing renews grows old unseen.
func TestDependabotRenewsEveryPin(t *testing.T) {
	ecosystems := map[string]string{
		"go.mod": "gomod", "requirements.txt": "pip", "package.json": "npm", "Cargo.toml": "cargo", "pom.xml": "maven",
	}
	var want, got []string
	skipped := []string{".git", ".venv", ".tools", ".local", ".aws-sam", "node_modules", "testdata"}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if ecosystem, pins := ecosystems[d.Name()]; pins {
			want = append(want, ecosystem+" "+path.Join("/", filepath.ToSlash(folder)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, "github-actions /")
	var file struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".github/dependabot.yml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, update := range file.Updates {
		if update.Directory != "" {
			update.Directories = append(update.Directories, update.Directory)
		}
		for _, folder := range update.Directories {
			got = append(got, update.Ecosystem+" "+folder)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-pinned +renewed):\n%s", diff)
	}
}

// A code host shows no form that it cannot read, and says so to nobody. The fields are those of its schema.
func TestTheFormsOfIssuesAreForms(t *testing.T) {
	type form struct {
		Name, Description string
		Labels            []string
		Body              []struct {
			Type, ID    string
			Attributes  map[string]any
			Validations map[string]bool
		}
	}
	for _, name := range []string{"bug", "idea"} {
		decoder := yaml.NewDecoder(strings.NewReader(readFile(t, ".github/ISSUE_TEMPLATE/"+name+".yml")))
		decoder.KnownFields(true)
		var f form
		if err := decoder.Decode(&f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		asked := 0
		for _, field := range f.Body {
			if !slices.Contains([]string{"markdown", "textarea", "input", "dropdown"}, field.Type) {
				t.Errorf("%s has a field of type %q", name, field.Type)
			}
			if field.Type != "markdown" && (field.ID == "" || field.Attributes["label"] == nil) {
				t.Errorf("%s: a field has no id or label: %v", name, field)
			}
			if field.Validations["required"] {
				asked++
			}
		}
		if f.Name == "" || f.Description == "" || asked == 0 {
			t.Errorf("%s has no name or description, or asks for nothing", name)
		}
	}
}
