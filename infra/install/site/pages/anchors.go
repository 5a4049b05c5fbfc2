package pages

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// anchors gives headings the anchors that code hosts give them, for which the documents' links are written.
type anchors map[string]int

var noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate implements parser.IDs.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(string(heading)), ""), " ", "-")
	if id == "" {
		id = "section"
	}
	a[id]++
	if n := a[id]; n > 1 {
		id += "-" + strconv.Itoa(n-1)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a anchors) Put(id []byte) { a[string(id)]++ }
