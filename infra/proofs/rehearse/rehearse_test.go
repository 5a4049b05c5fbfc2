package main

import (
	"archive/zip"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

func TestReduce_leavesOutUnknownTypesAndPutsTheFirstMetricInThePlaceOfAll(t *testing.T) {
	const whole = `Resources:
  Query:
    Type: AWS::Logs::QueryDefinition
  Invocations:
    Type: AWS::Lambda::ResourcePolicy
  Plain:
    Type: AWS::CloudWatch::Alarm
    Properties:
      MetricName: Errors
  Two:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Threshold: 1
      Metrics:
        - {Id: total, Expression: a + b, ReturnData: true}
        - {Id: a, MetricStat: {Period: 60, Stat: Sum, Metric: {Namespace: !Sub "x/${Stage}", MetricName: A}}}
        - {Id: b, MetricStat: {Period: 300, Stat: Maximum, Metric: {Namespace: y, MetricName: B}}}
`
	const want = `Resources:
  Plain:
    Type: AWS::CloudWatch::Alarm
    Properties:
      MetricName: Errors
  Two:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Threshold: 1
      Statistic: Sum
      Period: 60
      Namespace: !Sub "x/${Stage}"
      MetricName: A
`
	got, err := reduce([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("reduced (-want +got):\n%s", diff)
	}
}

func TestReduce_refusesWhatItCannotRead(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                     "",
		"no resources":                "Outputs: {}",
		"an alarm without any metric": "Resources: {A: {Type: AWS::CloudWatch::Alarm, Properties: {Metrics: []}}}",
		"a resource without a type":   "Resources: {A: {Properties: {}}}",
	} {
		if got, err := reduce([]byte(text)); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The commands are those of the document, so a change there that the rehearsal does not expect has to fail.
func TestScript_isDeploysOwn(t *testing.T) {
	document, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := script(string(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"aws sns create-topic", "gh release download", "sha256sum --check", "aws s3 cp", "aws cloudformation deploy",
		"--no-execute-changeset", "aws cloudformation execute-change-set",
		"/parameters-prod.txt)", "aws iam attach-role-policy", "sam remote invoke",
	} {
		if !strings.Contains(commands, want) {
			t.Errorf("the rehearsal does not run %s", want)
		}
	}
	without := strings.ReplaceAll(string(document), "## Install a version", "something else")
	if got, err := script(without); err == nil {
		t.Errorf("without a heading it runs\n%s", got)
	}
}

// The release is neither downloaded nor checked, and its parameters are those of this machine.
func TestPrepared_putsTheRehearsalInThePlaceOfARelease(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "herald-1.0.0", "parameters-prod.txt")
	err := errors.Join(os.Mkdir(filepath.Dir(file), 0o750), os.WriteFile(file, []byte("Stage=prod\n"), 0o600),
		os.WriteFile(filepath.Join(folder, "aws"), []byte("#!/bin/sh\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", prepared+`
gh release download v1.0.0
(cd herald-1.0.0 && sha256sum --check SHA256SUMS)
echo $(cat herald-1.0.0/parameters-prod.txt)
aws cloudformation describe-events --change-set-name one`)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	got, err := cmd.CombinedOutput()
	want := "not run: gh release download v1.0.0\nnot run: sha256sum --check SHA256SUMS\n" +
		"Stage=prod Stage=local EgressAllowCidrs=127.0.0.1/32 EgressAllowPorts=1024-65535\n" +
		"not run: aws cloudformation describe-events --change-set-name one\n"
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// packed writes an archive with an executable for a machine.
func packed(t *testing.T, name string, mode os.FileMode, machine elf.Machine) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deliver-0a.zip")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	write := zip.NewWriter(out)
	header := &zip.FileHeader{Name: name}
	header.SetMode(mode)
	entry, err := write.CreateHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	head := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Shentsize: 64,
	}
	if err := binary.Write(entry, binary.LittleEndian, head); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A package has the archive of the site, too, and licences.
func TestStage_exchangesTheArchivesOfFunctionsAlone(t *testing.T) {
	whole := filepath.Dir(packed(t, "bootstrap", 0o755, elf.EM_AARCH64))
	functions := t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(whole, "site.zip"), []byte("pages"), 0o600),
		os.Mkdir(filepath.Join(functions, "deliver"), 0o700),
		os.WriteFile(filepath.Join(functions, "deliver", "bootstrap"), []byte("native"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(t.TempDir(), "staged")
	if err := stage(whole, functions, into); err != nil {
		t.Fatal(err)
	}
	site, err := os.ReadFile(filepath.Join(into, "site.zip"))
	if err != nil || string(site) != "pages" {
		t.Errorf("the site became %q, %v", site, err)
	}
	code, err := os.ReadFile(filepath.Join(into, "deliver-0a.zip"))
	if err != nil || !strings.Contains(string(code), "native") {
		t.Errorf("the function's archive has not the build for this machine: %v", err)
	}
	if err := os.Remove(filepath.Join(whole, "deliver-0a.zip")); err != nil {
		t.Fatal(err)
	}
	if err := stage(whole, functions, filepath.Join(t.TempDir(), "empty")); err == nil {
		t.Error("a package with a site alone was taken")
	}
}

func TestCheckArchive_refusesWhatLambdaCannotRun(t *testing.T) {
	if err := checkArchive(packed(t, "bootstrap", 0o755, elf.EM_AARCH64)); err != nil {
		t.Errorf("an executable for arm64: %v", err)
	}
	for name, archive := range map[string]string{
		"another machine": packed(t, "bootstrap", 0o755, elf.EM_X86_64),
		"no right":        packed(t, "bootstrap", 0o644, elf.EM_AARCH64),
		"another name":    packed(t, "deliver", 0o755, elf.EM_AARCH64),
	} {
		if err := checkArchive(archive); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestWholeLines_showNoProgress(t *testing.T) {
	var b strings.Builder
	shown := &wholeLines{to: &b}
	for _, part := range []string{"1 of 2\r2 of", " 2\rdone\nnext", " line\nunended"} {
		if _, err := shown.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "done\nnext line\n"; b.String() != want {
		t.Errorf("it shows %q, want %q", b.String(), want)
	}
}

func TestUnversioned(t *testing.T) {
	if a, b := unversioned("DeliverFunctionVersion60709be78c"), unversioned("DeliverFunctionVersionebbd4482d6"); a != b {
		t.Errorf("%s and %s are versions of one function", a, b)
	}
	if id := "DeliverFunctionAliaslive"; unversioned(id) != id {
		t.Errorf("%s is no version", id)
	}
}

func TestDeployed_lacking(t *testing.T) {
	made := deployed{names: map[string]string{"EventsQueue": "herald-prod-events", "FanoutFunctionVersion60709be78c": "1"}}
	want := cfn.Template{Resources: map[string]cfn.Resource{
		"EventsQueue":                     {Type: "AWS::SQS::Queue"},
		"RetryQueue":                      {Type: "AWS::SQS::Queue"},
		"FanoutFunctionVersionebbd4482d6": {Type: "AWS::Lambda::Version"},
	}}
	if diff := cmp.Diff([]string{"resource RetryQueue (AWS::SQS::Queue) is missing"}, made.lacking(want)); diff != "" {
		t.Errorf("the stack lacks (-want +got):\n%s", diff)
	}
}
