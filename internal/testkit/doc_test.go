package testkit

import (
	"os"
	"strings"
	"testing"
)

func TestThePackageCommentNamesEveryPackageOfTheKit(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && strings.Count(string(comment), "("+e.Name()+")") != 1 {
			t.Errorf("the comment does not name %s once in parentheses", e.Name())
		}
	}
}
