package statefile

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestSuggested_isATypeOfTheStacksCatalogue(t *testing.T) {
	specified := catalogue.Types()
	own := catalogue.Type{Name: "user.signed_in", Example: `{"by":"Zoë's key"}`}
	old := catalogue.Type{Name: "user.logged_in", Example: `{}`, Deprecated: true}
	for name, c := range map[string]struct {
		types      []catalogue.Type
		want, data string
	}{
		"the specification's":    {specified, "user.created", `{"userId":"user_42"}`},
		"the adopter's besides":  {append(specified, old, own), own.Name, `{"by":"Zoë'\''s key"}`},
		"the adopter's alone":    {[]catalogue.Type{own}, own.Name, `{"by":"Zoë'\''s key"}`},
		"a deprecated one alone": {[]catalogue.Type{old}, old.Name, `{}`},
	} {
		if got, data := suggested(c.types); got != c.want || data != c.data {
			t.Errorf("%s: %s of %s, want %s of %s", name, got, data, c.want, c.data)
		}
	}
}
