package bindings

import (
	"bytes"
	"fmt"
	"go/format"
)

const constantsHead = `// Package parameters has the names of the packaged template's parameters, for Go programs that
// set or read them: where a parameter is renamed, they do not compile.
package parameters

// The parameters, in the template's order. The template says what they are.
const (
`

// constants are the names of the parameters as Go's.
func constants(r released) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n%s", generated, constantsHead)
	for _, p := range r.parameters {
		fmt.Fprintf(&b, "\t%s = %q\n", p.Name, p.Name)
	}
	b.WriteString(")\n")
	source, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("writing Go: %w", err)
	}
	return source, nil
}
