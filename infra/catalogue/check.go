package main

import (
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/schema"
)

// compiles checks that the schema is valid.
func (d *document) compiles(n *yaml.Node, t entry) {
	if _, err := schema.Compile(t.Schema); err != nil {
		d.fault(n, "the schema of %s: %v", t.Name, err)
	}
}

// fits checks that an example matches its schema.
func (d *document) fits(n *yaml.Node, t entry) {
	s, err := schema.Compile(t.Schema)
	if err == nil {
		err = s.Check([]byte(t.Example))
	}
	if err != nil {
		d.fault(n, "the example of %s: %v", t.Name, err)
	}
}
