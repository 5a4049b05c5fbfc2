package movein

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

// objects are the specification's.
var objects = []string{"user", "organization", "organizationMembership", "organizationInvitation", "connection"}

// checkName refuses a name that no catalogue of an adopter may have (infra/kit/cataloguefile).
func (r *record) checkName(name string) {
	object, action, _ := strings.Cut(name, ".")
	another := func(of []string, name string) string {
		n := slices.IndexFunc(of, func(known string) bool { return known != name && strings.EqualFold(known, name) })
		if n < 0 {
			return ""
		}
		return of[n]
	}
	nearObject, nearType := another(objects, object), another(event.Types(), name)
	switch {
	case name == "":
		r.refuse("name", "is missing")
	case len(name) > maxName || !nameForm.MatchString(name):
		r.refuse("name", fmt.Sprintf("must be object.action, of A-Z a-z 0-9 _ - and dots, with up to %d characters", maxName))
	case strings.EqualFold(object, "herald"):
		r.refuse("name", "names below herald. are for Herald's test deliveries")
	case nearObject != "":
		r.refuse("name", fmt.Sprintf("%s differs from %s in case only, and no wildcard would select it: write %[2]s.%s",
			object, nearObject, action))
	case nearType != "":
		r.refuse("name", "differs from "+nearType+" in case only")
	}
}

// warn says of each type with a name of the specification that its shape is now the adopter's, and how to undo that.
// lines are those of the types in the catalogue that was written.
func warn(report Report, lines []int) {
	for n := range report.Objects {
		o := &report.Objects[n]
		if o.LeftOut {
			continue
		}
		o.Line, lines = lines[0], lines[1:]
		if !catalogue.Specified(o.ID) {
			continue
		}
		o.Notes = append(o.Notes, Note{Field: "name", Message: fmt.Sprintf(
			"%s is the specification's, and this shape replaces Herald's: delete it, from line %d on, to keep Herald's; "+
				"with x-leave-out: [%[1]s] at the top in its place, there is no such type", o.ID, o.Line)})
	}
}
