package movein

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The lists of identity products have names below the specification's objects, some of which are its own.
func TestTypes_convertsTheListsOfIdentityProducts(t *testing.T) {
	want := map[string][]string{ // the names of the specification, by file
		"names.json": {"organization.created", "organizationInvitation.accepted", "organizationMembership.created",
			"user.created", "user.updated"},
		"svix.json":    {"user.banned", "user.created"},
		"results.json": {"connection.saml_certificate_renewed", "organization.updated"},
		"topics.json":  {"user.deleted"},
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%v, %v", files, err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, report, err := Types(content)
		if err != nil || len(report.Objects) == 0 || report.Taken != len(report.Objects) {
			t.Errorf("%s: %d of %d are converted, %v: %s", path, report.Taken, len(report.Objects), err, told(report))
		}
		var warned []string
		lines := strings.Split(string(text), "\n")
		for _, o := range report.Objects {
			if lines[o.Line-1] != fmt.Sprintf("  %q:", o.ID) {
				t.Errorf("%s: %s is said to be on line %d, which is %q", path, o.ID, o.Line, lines[o.Line-1])
			}
			of := report
			of.Objects = []Object{o}
			if says := told(of); strings.Contains(says, "this shape replaces Herald's") {
				warned = append(warned, o.ID)
				cure := fmt.Sprintf("%s is the specification's, and this shape replaces Herald's: delete it, from line %d on",
					o.ID, o.Line)
				leave := "x-leave-out: [" + o.ID + "]"
				if !strings.Contains(says, cure) || !strings.Contains(says, leave) {
					t.Errorf("%s: %s", path, says)
				}
			}
		}
		slices.Sort(warned)
		if diff := cmp.Diff(want[filepath.Base(path)], warned); diff != "" {
			t.Errorf("%s: warned of (-want +got):\n%s", path, diff)
		}
	}
}

// The adopter's shape is the one that is written, without the specification's userId.
func TestTypes_keepsAnotherShapeOfOurTypes(t *testing.T) {
	text, _, err := Types([]byte(`[{"name":"user.created","schema":{"type":"object","required":["sub"],` +
		`"properties":{"sub":{"type":"string"}}},"example":{"sub":"u_1"}}]`))
	if err != nil || !strings.Contains(string(text), `"sub": "u_1"`) || strings.Contains(string(text), "userId") {
		t.Errorf("%v: %s", err, text)
	}
	if !event.Known("user.created") {
		t.Error("this test needs a catalogue with user.created")
	}
}
