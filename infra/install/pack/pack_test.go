package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const root = "../../.."

func file(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// keys are those of a version's archives, by function.
func keys(t *testing.T, version string) map[string]string {
	t.Helper()
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range folders {
		all[f.Name()] = version + "/" + f.Name() + "-0a.zip"
	}
	return all
}

// Nothing but where the code is differs from template.yaml.
func TestInstall_changesOnlyWhereTheCodeIs(t *testing.T) {
	text := file(t, filepath.Join(root, "template.yaml"))
	archived := keys(t, "1.2.3")
	packaged, err := install(text, "1.2.3", archived)
	if err != nil {
		t.Fatal(err)
	}
	var whole yaml.Node
	var want, got cfn.Object
	err = errors.Join(yaml.Unmarshal(packaged, &whole), yaml.Unmarshal(text, &want), yaml.Unmarshal(packaged, &got))
	if err != nil {
		t.Fatal(err)
	}
	if shares(&whole) {
		t.Error("CloudFormation refuses anchors, aliases and merges")
	}
	for name, key := range archived {
		id := strings.ToUpper(name[:1]) + name[1:] + "Function"
		code := cfn.At(got, "Resources", id, "Properties", "CodeUri")
		if code["Bucket"] != "CodeBucket" || !strings.Contains(fmt.Sprint(code["Key"]), "${CodeFolder}/"+key) {
			t.Errorf("the code of %s is in %v", name, code)
		}
		for _, property := range []string{"CodeUri", "AutoPublishAlias", "DeploymentPreference"} {
			delete(cfn.At(got, "Resources", id, "Properties"), property)
		}
		delete(cfn.At(want, "Resources", id), "Metadata")
	}
	for section, names := range map[string][]string{
		"Parameters": {"CodeBucket", "CodeFolder", "GradualDeployment"}, "Conditions": {"IsGradual"},
		"Resources": {"GradualDeploymentRole"},
	} {
		if section == "Resources" {
			for id := range policies(want) {
				names = append(names, id+"OfAlias", id+"OfVersion")
			}
		}
		for _, name := range names {
			if cfn.At(got, section)[name] == nil {
				t.Errorf("%s has no %s", section, name)
			}
			delete(cfn.At(got, section), name)
		}
	}
	delete(cfn.At(want, "Globals", "Function"), "CodeUri")
	cfn.At(want, "Outputs", "Product")["Value"] = "Herald 1.2.3" // herald knows a stack by it
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
}

// CloudFormation reads it by a URL, since a request takes no such template.
func TestInstall_fitsCloudFormation(t *testing.T) {
	packaged, err := install(file(t, filepath.Join(root, "template.yaml")), "1.2.3", keys(t, "1.2.3"))
	var got cfn.Object
	if err = errors.Join(err, yaml.Unmarshal(packaged, &got)); err != nil {
		t.Fatal(err)
	}
	if len(packaged) <= 51_200 || len(packaged) > 1<<20 {
		t.Errorf("the template has %d bytes", len(packaged))
	}
	for section, most := range map[string]int{"Parameters": 200, "Outputs": 200} {
		if n := len(cfn.At(got, section)); n > most {
			t.Errorf("%d %s, and CloudFormation takes %d", n, section, most)
		}
	}
}

// policies are those of functions, by their ids.
func policies(template cfn.Object) map[string]cfn.Object {
	all := map[string]cfn.Object{}
	for id, r := range cfn.At(template, "Resources") {
		if resource, _ := r.(cfn.Object); resource["Type"] == "AWS::Lambda::ResourcePolicy" {
			all[id] = cfn.At(resource, "Properties")
		}
	}
	return all
}

// A policy belongs to one resource. But a right to invoke everything includes the alias and the versions.
func TestInstall_guardsAliasesAndVersionsAsTheirFunctions(t *testing.T) {
	text := file(t, filepath.Join(root, "template.yaml"))
	packaged, err := install(text, "1.2.3", keys(t, "1.2.3"))
	var want, got cfn.Object
	if err = errors.Join(err, yaml.Unmarshal(text, &want), yaml.Unmarshal(packaged, &got)); err != nil {
		t.Fatal(err)
	}
	written, installed := policies(want), policies(got)
	for id, policy := range written {
		function, _, _ := strings.Cut(fmt.Sprint(policy["ResourceArn"]), ".")
		for kind, keeps := range map[string]any{"Alias": nil, "Version": "Retain"} {
			resource := cfn.At(got, "Resources", id+"Of"+kind)
			if resource["UpdateReplacePolicy"] != keeps || resource["DeletionPolicy"] != keeps {
				t.Errorf("%s of the %s ends with an update: %v", id, kind, resource)
			}
			if diff := cmp.Diff(cfn.At(want, "Resources", id)["Condition"], resource["Condition"]); diff != "" {
				t.Errorf("%s of the %s (-want +got):\n%s", id, kind, diff)
			}
			one := installed[id+"Of"+kind]
			arn := function + "." + kind
			for _, s := range cfn.At(policy, "PolicyDocument")["Statement"].([]any) {
				s.(cfn.Object)["Resource"] = arn
			}
			if diff := cmp.Diff(cfn.Object{"ResourceArn": arn, "PolicyDocument": policy["PolicyDocument"]}, one); diff != "" {
				t.Errorf("%s of the %s (-want +got):\n%s", id, kind, diff)
			}
		}
	}
	if len(written) == 0 || len(installed) != 3*len(written) {
		t.Errorf("%d policies are written, and %d installed", len(written), len(installed))
	}
}

func shares(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || n.Tag == "!!merge" || slices.ContainsFunc(n.Content, shares)
}

func TestInstall_refusesWhatIsNoTemplate(t *testing.T) {
	for _, text := range []string{"", "[", "Resources: {}", "Parameters: {}\nOutputs: {}\nResources: {}"} {
		if _, err := install([]byte(text), "1.0.0", nil); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestInstall_refusesOtherArchivesThanOfItsFunctions(t *testing.T) {
	text := file(t, filepath.Join(root, "template.yaml"))
	for name, key := range map[string]string{"deliver": "", "unknown": "1.0.0/unknown.zip"} {
		archived := keys(t, "1.0.0")
		archived[name] = key
		if _, err := install(text, "1.0.0", archived); err == nil {
			t.Errorf("%s under %q is taken", name, key)
		}
	}
}

// TestMakePackage_givesTheSameBytesTwice proves that it tells nothing of where it was made.
func TestArchive_isWhatLambdaStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deliver")
	if err := os.WriteFile(path, []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := archive(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(r.File) != 1 || r.File[0].Name != "bootstrap" || r.File[0].Mode() != 0o755 {
		t.Fatalf("not what Lambda starts: %v, %v", r, err)
	}
	entry, err := r.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if code, err := io.ReadAll(entry); string(code) != "code" || err != nil {
		t.Errorf("the code is %q, %v", code, err)
	}
}

// CloudFormation replaces the code of a function only where its key has changed.
func TestArchives_haveKeysOfTheirVersionAndContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deliver")
	key := func(version, code string) string {
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		files, keys, err := archives([]string{path}, version)
		if err != nil || files[filepath.Base(keys["deliver"])] == nil {
			t.Fatalf("%v has %d files, %v", keys, len(files), err)
		}
		return keys["deliver"]
	}
	first := key("1.0.0", "code")
	if again := key("1.0.0", "code"); again != first {
		t.Errorf("the same code is under %s and %s", first, again)
	}
	for version, code := range map[string]string{"1.0.0": "code with another catalogue", "1.0.1": "code"} {
		if other := key(version, code); other == first || !strings.HasPrefix(other, version+"/deliver-") {
			t.Errorf("%s of %s is under %s, like %s", code, version, other, first)
		}
	}
}

// The test's binary serves as the example: it has modules, too.
func TestBillOfMaterialsAndLicences_nameEachModule(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	linked, err := modules([]string{self, self})
	if err != nil {
		t.Fatal(err)
	}
	bom, err := billOfMaterials(linked, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := licences(linked)
	if err != nil {
		t.Fatal(err)
	}
	if len(linked) < 3 || linked[len(linked)-1].path != "std" {
		t.Errorf("the binary contains %v", linked)
	}
	for _, m := range linked {
		if !bytes.Contains(bom, []byte(`"purl": "pkg:golang/`+m.path+"@"+m.version+`"`)) {
			t.Errorf("the bill of materials leaves out %s", m)
		}
		if !bytes.Contains(texts, []byte("\n"+m.String()+": LICENSE")) {
			t.Errorf("there is no licence of %s", m)
		}
	}
	if !bytes.Contains(bom, []byte("pkg:golang/github.com/herald-webhooks/herald@v1.2.3")) {
		t.Error("the bill of materials does not say what it is of")
	}
}

func TestLegal_refusesAModuleWithoutLicence(t *testing.T) {
	if texts, err := legal(t.TempDir(), false); err == nil {
		t.Errorf("found %v", texts)
	}
}

// VERSION is the next version. Those in the changelog came before it, so that each has a tag.
func TestTheChangelogNamesNoVersionWithoutATag(t *testing.T) {
	next := strings.TrimSpace(versionFile)
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(next) {
		t.Fatalf("VERSION is %q", next)
	}
	changelog := string(file(t, filepath.Join(root, "infra/docs/CHANGELOG.md")))
	headings := regexp.MustCompile(`(?m)^## .*$`).FindAllString(changelog, -1)
	if len(headings) == 0 || headings[0] != "## Unreleased" {
		t.Errorf("the changelog begins with %v", headings)
	}
	for _, heading := range headings[1:] {
		if strings.HasPrefix(heading, "## "+next) {
			t.Errorf("%q has no tag yet", heading)
		}
	}
}

// A merge of two changes of one entry can leave both.
func TestTheChangelogSaysEachThingOnce(t *testing.T) {
	heads := regexp.MustCompile(`(?m)^(?:## .*|- \*\*.*?\*\*)`)
	seen := map[string]bool{}
	for _, head := range heads.FindAllString(string(file(t, filepath.Join(root, "infra/docs/CHANGELOG.md"))), -1) {
		if strings.HasPrefix(head, "## ") {
			seen = map[string]bool{}
		}
		if seen[head] {
			t.Errorf("%q is there twice", head)
		}
		seen[head] = true
	}
}
