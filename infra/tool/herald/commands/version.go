package commands

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/herald-webhooks/herald/internal/edges/config"
)

// Commit is the commit of a packaged version, set by the linker. Other builds have it in their version.
var Commit string

// pseudo is the end of a version that go install makes of a commit without a tag.
var pseudo = regexp.MustCompile(`-(?:0\.)?\d{14}-([0-9a-f]{12})(?:\+|$)`)

// build is what the program knows of its own build.
func build() *debug.BuildInfo {
	info, found := debug.ReadBuildInfo()
	if !found {
		return &debug.BuildInfo{}
	}
	return info
}

// version is what --version prints: the version, the module, the commit where it is known, Go, FIPS 140-3 in that mode,
// and the path of the program, since a machine may have several of that name. What go install has built knows its
// version by its module alone.
func version(info *debug.BuildInfo) string {
	release, commit := config.Version, Commit
	if of := info.Main.Version; release == "dev" && of != "" && of != "(devel)" {
		release = strings.TrimPrefix(of, "v")
	}
	if found := pseudo.FindStringSubmatch(release); found != nil && commit == "" {
		commit = found[1]
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && commit == "" {
			commit = setting.Value
		}
	}
	parts := []string{release}
	for _, part := range []string{info.Main.Path, prefixed("commit ", commit), info.GoVersion,
		prefixed("FIPS 140-3 by the Go Cryptographic Module ", config.FIPSModule()), path()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// path is where the program is, "" if the system does not say so.
func path() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	return name
}
