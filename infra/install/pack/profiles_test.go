package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A release is installed with the settings of a checkout: deploy.md's two ways differ in nothing else.
func TestProfiles_carryTheSettingsOfEachTable(t *testing.T) {
	samconfig := string(file(t, filepath.Join(root, "samconfig.toml")))
	files, err := profiles([]byte(samconfig))
	if err != nil {
		t.Fatal(err)
	}
	template, err := cfn.Read(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"prod", "low-traffic", "staging", "high-volume", "verify"} {
		_, table, _ := strings.Cut(samconfig, "\n["+profile+".deploy.parameters]\n")
		table, _, _ = strings.Cut(table, "\n[")
		var want []string
		for _, setting := range regexp.MustCompile(`(?m)^ +"([^"]+)"`).FindAllStringSubmatch(table, -1) {
			want = append(want, setting[1])
			name, _, _ := strings.Cut(setting[1], "=")
			if template.Parameters[name] == nil {
				t.Errorf("the template has no parameter %s", name)
			}
		}
		got := string(files["parameters-"+profile+".txt"])
		if len(want) < 3 || got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s: %q, want %q", profile, got, want)
		}
	}
	if len(files) != 5 {
		t.Errorf("%d profiles", len(files))
	}
}

// A shell reads the files word by word.
func TestProfiles_refuseWhatAShellWouldChange(t *testing.T) {
	for _, setting := range []string{`"A=b c",`, `"A=$(id)",`, `"A=*",`, `"A=b;c",`, `"A",`, "'A=b',", `"A=b"`} {
		table := "[prod.deploy.parameters]\nparameter_overrides = [\n    " + setting + "\n]\n"
		if files, err := profiles([]byte(table)); err == nil {
			t.Errorf("%s: %q", setting, files)
		}
	}
	if _, err := profiles([]byte("[prod.deploy.parameters]\nstack_name = \"a\"\n")); err == nil {
		t.Error("a profile without settings is taken")
	}
}

// A shell does not expand what $(cat FILE) gives it but for blanks and wildcards, and no tenant's id has them.
func TestProfiles_takeEveryTenant(t *testing.T) {
	for _, tenant := range names.Tenants() {
		setting := "HeartbeatTenant=" + tenant
		table := "[prod.deploy.parameters]\nparameter_overrides = [\n    \"" + setting + "\",\n]\n"
		files, err := profiles([]byte(table))
		if err != nil {
			t.Errorf("%s: %v", tenant, err)
			continue
		}
		text := files["parameters-prod.txt"]
		file := filepath.Join(t.TempDir(), "parameters-prod.txt")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		words, err := exec.Command("sh", "-c", `printf '%s\n' $(cat "$0")`, file).Output()
		if err != nil || string(words) != setting+"\n" {
			t.Errorf("%s: sh reads %q, %v", tenant, words, err)
		}
	}
}

// Both ways of deploy.md name the same profile: the file of the release, and the table of the checkout.
func TestDeploy_saysTheSameProfileInBothWays(t *testing.T) {
	page := string(file(t, filepath.Join(root, "infra/docs/deploy.md")))
	named := regexp.MustCompile(`--parameter-overrides \$\(cat herald-\S+/parameters-([\w-]+)\.txt\)`)
	release := named.FindStringSubmatch(page)
	checkout := regexp.MustCompile(`sam deploy --config-env ([\w-]+) `).FindStringSubmatch(page)
	if release == nil || checkout == nil || release[1] != checkout[1] {
		t.Errorf("the release's way has %q, the checkout's %q", release, checkout)
	}
}
