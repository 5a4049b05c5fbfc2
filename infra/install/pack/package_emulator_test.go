//go:build emulator

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/install/deployerpolicy"
	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Two checkouts in different folders give the same bytes, AWS's own translator takes the template, and another
// catalogue gives other keys. The test runs with the emulator's tests, after sam build, which has compiled the same
// code.
func TestMakePackage_givesTheSameBytesTwice(t *testing.T) {
	var sums [2]string
	var checkout string
	for i := range sums {
		checkout = filepath.Join(t.TempDir(), strings.Repeat("deeper/", i))
		copyTo(t, checkout)
		flags := "GOFLAGS=" + []string{os.Getenv("GOFLAGS"), "-trimpath"}[i] // of pack itself, too
		run(t, checkout, "make", "package", "PLATFORMS=linux_arm64", flags)  // the others are compiled alike
		sums[i] = string(file(t, filepath.Join(checkout, ".local/package/SHA256SUMS")))
		run(t, filepath.Join(checkout, ".local/package"), "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
		tools := filepath.Join(checkout, ".local/package-herald")
		run(t, tools, "sha256sum", "--check", "--strict", "--quiet", "herald_SHA256SUMS")
		if strings.Contains(sums[i], "herald_") { // it would be uploaded
			t.Errorf("the package has the command line:\n%s", sums[i])
		}
		if i == 0 {
			translate(t, filepath.Join(checkout, ".local/package/template.yaml"))
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("first:\n%s\nsecond:\n%s", sums[0], sums[1])
	}
	run(t, checkout, "make", "package", "PLATFORMS=linux_arm64", "CATALOGUE=infra/examples/catalogue.yaml")
	template := string(file(t, filepath.Join(checkout, ".local/package/template.yaml")))
	archives := regexp.MustCompile(`\S+-[0-9a-f]{12}\.zip`).FindAllString(sums[0], -1) // the site has no key
	if len(archives) != len(keys(t, "")) {
		t.Errorf("the archives are %v", archives)
	}
	for _, name := range archives {
		if strings.Contains(template, name) {
			t.Errorf("%s has another catalogue and the same name", name)
		}
	}
}

// Half a minute of one core, beyond the quick test of all parameters together.
func TestEveryVariantIsLintedAlone(t *testing.T) {
	each := maps.Clone(variants)
	each["none"] = nil
	lint(t, each)
}

// copyTo copies the files that make package reads: all of a checkout, since its documents are in the site. It leaves
// out builds and git's files.
func copyTo(t *testing.T, checkout string) {
	t.Helper()
	for _, name := range []string{"functions", "internal", "infra"} {
		if err := os.CopyFS(filepath.Join(checkout, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.Type().IsRegular() || name == ".git" {
			continue
		}
		if err := os.WriteFile(filepath.Join(checkout, name), file(t, filepath.Join(root, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// published are the functions of which an update publishes a version.
func published(before, after *sam.Template) (functions []string) {
	versions := before.OfType("AWS::Lambda::Version")
	for id := range after.OfType("AWS::Lambda::Version") {
		if versions[id].Type == "" {
			name, _, _ := strings.Cut(id, "FunctionVersion")
			functions = append(functions, name)
		}
	}
	slices.Sort(functions)
	return functions
}

var every = []string{"Deadletter", "Deliver", "Fanout", "Webhooks"} // that is shifted

// An update keeps the values of a stack's parameters, even those that were defaults of the version before.
func TestAnUpdateThatNamesNoParametersInstallsTheVersion(t *testing.T) {
	before := translate(t, packaged(t, "1.0.0"))
	var stored []string
	for name, value := range before.Parameters {
		stored = append(stored, name+"="+value)
	}
	after := translate(t, packaged(t, "1.0.1"), stored...)
	if diff := cmp.Diff(every, published(before, after)); diff != "" {
		t.Errorf("published versions (-want +got):\n%s", diff)
	}
	for id, function := range after.OfType("AWS::Lambda::Function") {
		if key := fmt.Sprint(cfn.At(function.Properties, "Code")["S3Key"]); !strings.Contains(key, "/1.0.1/") {
			t.Errorf("the code of %s is in %s", id, key)
		}
	}
}

// An update publishes a version of each function with changed code or configuration, and of no other. Without a new
// version, such a function would keep running the old one. A new version without a change is refused by Lambda.
func TestUpdatesPublishWhatTheyChange(t *testing.T) {
	template := packaged(t, "1.0.0")
	before := translate(t, template)
	if groups := before.OfType("AWS::CodeDeploy::DeploymentGroup"); len(groups) != 0 {
		t.Errorf("nobody asked for %v", groups)
	}
	for parameter, want := range map[string][]string{
		"LogLevel=DEBUG": every, "Stage=other": every,
		"MaxRetries=3": {"Deliver"}, "ApiTimeoutSeconds=20": {"Webhooks"}, "VpcSubnetIds=subnet-0a": {"Deliver"},
		"FunctionTimeoutSeconds=31":      {"Deadletter", "Deliver", "Fanout"},
		"DeliverReservedConcurrency=900": nil, "BatchSize=7": nil, "DeathsPerHour=7": nil,
	} {
		if diff := cmp.Diff(want, published(before, translate(t, template, parameter))); diff != "" {
			t.Errorf("%s publishes versions of (-want +got):\n%s", parameter, diff)
		}
	}
	gradual := translate(t, template, "GradualDeployment=true")
	for id, r := range cfn.Of(gradual.Body).Resources {
		if len(before.OfType(r.Type)) == 0 && !slices.Contains(deployerpolicy.Gradual, r.Type) {
			t.Errorf("the deployer's policy does not know %s, which is a %s", id, r.Type)
		}
	}
	groups := gradual.OfType("AWS::CodeDeploy::DeploymentGroup")
	for _, name := range every {
		group := groups[name+"FunctionDeploymentGroup"].Properties
		alarms, _ := cfn.At(group, "AlarmConfiguration")["Alarms"].([]any)
		if len(alarms) == 0 || !strings.Contains(fmt.Sprint(group["ServiceRoleArn"]), "GradualDeploymentRole") {
			t.Errorf("%s is shifted by %v, watched by %v", name, group["ServiceRoleArn"], alarms)
		}
	}
	for id, mapping := range gradual.OfType("AWS::Lambda::EventSourceMapping") {
		if invoked := fmt.Sprint(mapping.Properties["FunctionName"]); !strings.Contains(invoked, "Aliaslive") {
			t.Errorf("%s invokes %s past the alias", id, invoked)
		}
	}
}

// Every version and alias of a function with a policy has one, as CloudFormation gets them.
func TestPoliciesAreOfEveryVersionAndAlias(t *testing.T) {
	tpl := translate(t, packaged(t, "1.0.0"))
	guarded := map[string]bool{}
	for _, policy := range tpl.OfType("AWS::Lambda::ResourcePolicy") {
		guarded[fmt.Sprint(policy.Properties["ResourceArn"])] = true
	}
	found := 0
	for _, kind := range []string{"AWS::Lambda::Version", "AWS::Lambda::Alias"} {
		for id, resource := range tpl.OfType(kind) {
			function := cfn.At(resource.Properties, "FunctionName")["Ref"]
			if !guarded[fmt.Sprint(cfn.Object{"Fn::GetAtt": []any{function, "Arn"}})] {
				continue
			}
			if found++; !guarded[fmt.Sprint(cfn.Object{"Ref": id})] {
				t.Errorf("no policy is of %s, of %v: %v", id, function, guarded)
			}
		}
	}
	if want := 2 * (len(every) - 1); found != want { // webhooks is invoked by API Gateway
		t.Errorf("%d versions and aliases are of functions with a policy, want %d", found, want)
	}
}

func run(t *testing.T, folder string, command ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = folder
	// The make that runs the tests passes its options on in these variables. A second make must not inherit them.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") })
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, problems.String())
	}
	return out
}
