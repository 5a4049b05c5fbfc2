package commands

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/config"
)

func TestVersion(t *testing.T) {
	const module, goVersion = "github.com/herald-webhooks/herald", "go1.27.4"
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tail := ", " + goVersion + ", " + program
	if fips := config.FIPSModule(); fips != "" {
		tail = ", " + goVersion + ", FIPS 140-3 by the Go Cryptographic Module " + fips + ", " + program
	}
	for name, row := range map[string]struct {
		linked, commit string // by the linker
		module         string // its version
		settings       []debug.BuildSetting
		want           string
	}{
		"a packaged version":  {"1.0.0", "0123456789ab", "(devel)", nil, "1.0.0, " + module + ", commit 0123456789ab"},
		"make native":         {"1.0.0-3-gabcdef01", "", "(devel)", nil, "1.0.0-3-gabcdef01, " + module},
		"go install of a tag": {"dev", "", "v1.2.3", nil, "1.2.3, " + module},
		"go install of a commit": {
			"dev", "", "v1.2.4-0.20261128213000-0123456789ab", nil,
			"1.2.4-0.20261128213000-0123456789ab, " + module + ", commit 0123456789ab",
		},
		"go install of a commit before the first tag": {
			"dev", "", "v0.0.0-20261128213000-0123456789ab", nil,
			"0.0.0-20261128213000-0123456789ab, " + module + ", commit 0123456789ab",
		},
		"go build in a checkout": {
			"dev", "", "(devel)", []debug.BuildSetting{{Key: "vcs.revision", Value: "fedcba98"}},
			"dev, " + module + ", commit fedcba98",
		},
		"a test": {"dev", "", "", nil, "dev, " + module},
	} {
		t.Run(name, func(t *testing.T) {
			before, beforeCommit := config.Version, Commit
			t.Cleanup(func() { config.Version, Commit = before, beforeCommit })
			config.Version, Commit = row.linked, row.commit
			got := version(&debug.BuildInfo{
				GoVersion: goVersion, Main: debug.Module{Path: module, Version: row.module}, Settings: row.settings,
			})
			if want := row.want + tail; got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}
