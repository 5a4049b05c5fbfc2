package movein

import (
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
)

// checkName refuses a name that no catalogue of an adopter may have (infra/kit/cataloguefile).
func (c *conversion) checkName(r *record, name string) {
	object, action, _ := strings.Cut(name, ".")
	nearObject, nearType := c.near(name)
	switch {
	case name == "":
		r.refuse("name", "is missing")
	case !cataloguefile.ValidName(name):
		r.refuse("name", fmt.Sprintf("must be object.action, of A-Z a-z 0-9 _ - and dots, with up to %d characters",
			cataloguefile.MaxName))
	case strings.EqualFold(object, "herald"):
		r.refuse("name", "names below herald. are for Herald's test deliveries")
	case nearObject != "":
		r.refuse("name", fmt.Sprintf("%s differs from %s in case only, and no wildcard would select it: write %[2]s.%s",
			object, nearObject, action))
	case nearType != "":
		r.refuse("name", "differs from "+nearType+" in case only")
	}
}

// near are an object and a type of the specification from which those of a name differ in case only.
func (c *conversion) near(name string) (object, of string) {
	own, _, _ := strings.Cut(name, ".")
	for _, known := range c.specified {
		first, _, _ := strings.Cut(known, ".")
		if first != own && strings.EqualFold(first, own) {
			object = first
		}
		if known != name && strings.EqualFold(known, name) {
			of = known
		}
	}
	return object, of
}

// warn says of each type with a name of the specification that its shape is now the adopter's, and how to undo that.
// lines are those of the types in the catalogue that was written.
func (c *conversion) warn(report Report, lines []int) {
	for n := range report.Objects {
		o := &report.Objects[n]
		if o.LeftOut {
			continue
		}
		o.Line, lines = lines[0], lines[1:]
		if !slices.Contains(c.specified, o.ID) {
			continue
		}
		o.Notes = append(o.Notes, Note{Field: "name", Message: fmt.Sprintf(
			"%s is the specification's, and this shape replaces Herald's: delete it, from line %d on, to keep Herald's; "+
				"with x-leave-out: [%[1]s] at the top in its place, there is no such type", o.ID, o.Line)})
	}
}
