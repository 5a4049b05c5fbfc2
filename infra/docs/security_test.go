package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	definedTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// A defence without its test is only a claim, and so is the step of a recipe. A test gets lost when it is renamed or
// deleted.
func TestPagesNameTestsThatExist(t *testing.T) {
	defined := map[string]bool{}
	for name, text := range texts(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range definedTest.FindAllStringSubmatch(text, -1) {
				defined[found[1]] = true
			}
		}
	}
	for _, page := range []string{"security.md", "design.md"} {
		named := namedTest.FindAllStringSubmatch(readFile(t, "infra/docs/"+page), -1)
		if len(named) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, test := range named {
			if !defined[test[1]] {
				t.Errorf("%s names %s, which does not exist", page, test[1])
			}
		}
	}
}
