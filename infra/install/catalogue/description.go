package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// described is the API description, with the names that subscriptions and tests take, and the section webhooks of all
// types.
func described(root string, all cataloguefile.Tables) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, description)) //nolint:gosec // the checkout's
	if err != nil {
		return nil, fmt.Errorf("reading the API description: %w", err)
	}
	var names, webhooks strings.Builder
	seen := map[string]bool{}
	for _, t := range all.Types() {
		fmt.Fprintf(&names, "        - %q\n", t.Name) // 1.5 is a name, too
		webhooks.WriteString(webhook(t, seen))
	}
	var wildcards strings.Builder
	for _, w := range all.Wildcards {
		fmt.Fprintf(&wildcards, "        - %q\n", w)
	}
	whole, first := replaced(string(text), "\nwebhooks:\n", "\ncomponents:\n", webhooks.String())
	whole, second := replaced(whole, "      x-extensible-enum: &subscriptions\n", `        - "*"`,
		names.String()+wildcards.String())
	whole, third := replaced(whole, "      enum: &tests\n", "        - herald.test", names.String())
	return []byte(whole), errors.Join(first, second, third)
}

// replaced puts a text between two others.
func replaced(text, from, to, between string) (string, error) {
	before, rest, begins := strings.Cut(text, from)
	_, after, ends := strings.Cut(rest, to)
	if !begins || !ends {
		return "", fmt.Errorf("%s: there is no %q before a %q", description, from, to)
	}
	return before + from + between + to + after, nil
}

// operation is an id that no other operation has.
func operation(name string, seen map[string]bool) string {
	id := "on"
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-", r) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	for seen[id] {
		id += "X"
	}
	seen[id] = true
	return id
}

// webhook describes the delivery of a type: JSON is YAML. The rest is the description's x-delivery.
func webhook(t catalogue.Type, seen map[string]bool) string {
	summary, _ := jsontext.AppendQuote(nil, t.Description) // the catalogue was read as UTF-8
	deprecated := ""
	if t.Deprecated {
		deprecated = "\n      deprecated: true"
	}
	if t.ReplacedBy != "" {
		deprecated += "\n      x-replaced-by: " + strconv.Quote(t.ReplacedBy)
	}
	return fmt.Sprintf(`  "%[1]s":
    post:
      <<: *delivery
      operationId: %[2]s
      summary: %[3]s%[6]s
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [type, data]
              properties: {"type":{"type":"string","const":"%[1]s"},"data":%[4]s}
            examples: {"illustrative":{"value":{"type":"%[1]s","data":%[5]s}}}
`, t.Name, operation(t.Name, seen), summary, t.Schema, t.Example, deprecated)
}
