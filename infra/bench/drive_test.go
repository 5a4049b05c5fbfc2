package main

import (
	"os"
	"strings"
	"testing"
)

// What is measured has to be what is deployed.
func TestRuntimeSettingsAreTheTemplates(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(template), `"`, "")
	for _, setting := range runtimeSettings {
		if n := strings.Count(plain, "          "+strings.Replace(setting, "=", ": ", 1)); n != 2 {
			t.Errorf("%s is set for %d functions, want fanout and deliver", setting, n)
		}
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"} {
		if !strings.Contains(strings.Join(runtimeSettings, " "), name+"=") {
			t.Errorf("%s is not set for the benchmark", name)
		}
	}
}
