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

// A defence without its test is only a claim. A test gets lost when it is renamed or deleted.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	defined := map[string]bool{}
	for name, text := range texts(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range definedTest.FindAllStringSubmatch(text, -1) {
				defined[found[1]] = true
			}
		}
	}
	named := namedTest.FindAllStringSubmatch(readFile(t, "infra/docs/security.md"), -1)
	if len(named) == 0 {
		t.Fatal("security.md names no test")
	}
	for _, test := range named {
		if !defined[test[1]] {
			t.Errorf("security.md names %s, which does not exist", test[1])
		}
	}
}
