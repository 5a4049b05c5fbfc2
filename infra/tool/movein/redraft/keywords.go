package redraft

import "strings"

// draft is a version of JSON Schema.
type draft int

// The drafts. A schema that names none may have the keywords of all, and those of OpenAPI 3.0.
const (
	unnamed draft = iota
	draft3
	draft4
	draft6
	draft7
	draft2019
	draft2020
)

func (d draft) String() string {
	return []string{"any draft", "draft 3", "draft 4", "draft 6", "draft 7", "2019-09", "2020-12"}[d]
}

// drafts are the drafts by their addresses in $schema, without the scheme and an empty fragment.
var drafts = map[string]draft{
	"json-schema.org/draft-03/schema": draft3, "json-schema.org/draft-03/hyper-schema": draft3,
	"json-schema.org/draft-04/schema": draft4, "json-schema.org/draft-04/hyper-schema": draft4,
	"json-schema.org/draft-06/schema": draft6, "json-schema.org/draft-06/hyper-schema": draft6,
	"json-schema.org/draft-07/schema": draft7, "json-schema.org/draft-07/hyper-schema": draft7,
	"json-schema.org/draft/2019-09/schema": draft2019, "json-schema.org/draft/2019-09/hyper-schema": draft2019,
	"json-schema.org/draft/2020-12/schema": draft2020, "json-schema.org/draft/2020-12/hyper-schema": draft2020,
	"spec.openapis.org/oas/3.1/dialect/base": draft2020, "json-schema.org/schema": unnamed,
}

// draftOf is the draft that $schema names.
func draftOf(address string) (d draft, known bool) {
	_, address, _ = strings.Cut(strings.TrimSuffix(address, "#"), "://")
	d, known = drafts[address]
	return d, known
}

// shape is what the value of a keyword has in it.
type shape int

const (
	plain shape = iota // no schemas
	whole              // a schema, or a list with schemas
	named              // schemas by names
)

// keyword is a word of a meta-schema.
type keyword struct {
	from, to  draft // the drafts that have it
	shape     shape
	describes bool // it refuses no value in any draft
}

// since is a keyword that came with a draft and has stayed. until is a keyword of draft 3 that a later draft dropped.
// describing is a keyword that refuses nothing.
func since(from draft, s shape) keyword { return keyword{from: from, to: draft2020, shape: s} }

func until(to draft, s shape) keyword { return keyword{from: draft3, to: to, shape: s} }

func describing(from draft) keyword { return keyword{from: from, to: draft2020, describes: true} }

// in reports whether a draft has the keyword.
func (k keyword) in(d draft) bool { return d == unnamed || k.from <= d && d <= k.to }

// keywords are those of all meta-schemas, of applicators, assertions and descriptions, and those of OpenAPI 3.0.
var keywords = map[string]keyword{
	"$schema": since(draft3, plain), "$ref": since(draft3, plain),
	"id": until(draft4, plain), "$id": since(draft6, plain),
	"$anchor": since(draft2019, plain), "$vocabulary": since(draft2019, plain),
	"$recursiveRef": since(draft2019, plain), "$recursiveAnchor": since(draft2019, plain),
	"$dynamicRef": since(draft2020, plain), "$dynamicAnchor": since(draft2020, plain),
	"definitions": since(draft4, named), "$defs": since(draft2019, named),

	"type": since(draft3, whole), "disallow": until(draft3, whole),
	"extends": until(draft3, whole), "allOf": since(draft4, whole),
	"anyOf": since(draft4, whole), "oneOf": since(draft4, whole),
	"not": since(draft4, whole), "if": since(draft7, whole),
	"then": since(draft7, whole), "else": since(draft7, whole),

	"properties": since(draft3, named), "patternProperties": since(draft3, named),
	"additionalProperties":  since(draft3, whole),
	"propertyNames":         since(draft6, whole),
	"unevaluatedProperties": since(draft2019, whole),
	"required":              since(draft3, plain),
	"minProperties":         since(draft4, plain), "maxProperties": since(draft4, plain),
	// The meta-schemas of 2019-09 and 2020-12 keep it for compatibility, as 2020-12 does with $recursiveRef.
	"dependencies":      since(draft3, named),
	"dependentRequired": since(draft2019, plain), "dependentSchemas": since(draft2019, named),

	"items": since(draft3, whole), "additionalItems": until(draft2019, whole),
	"prefixItems": since(draft2020, whole), "contains": since(draft6, whole),
	"unevaluatedItems": since(draft2019, whole),
	"minContains":      since(draft2019, plain), "maxContains": since(draft2019, plain),
	"minItems": since(draft3, plain), "maxItems": since(draft3, plain),
	"uniqueItems": since(draft3, plain),

	"enum": since(draft3, plain), "const": since(draft6, plain),
	"pattern": since(draft3, plain), "minLength": since(draft3, plain),
	"maxLength": since(draft3, plain), "minimum": since(draft3, plain),
	"maximum": since(draft3, plain), "exclusiveMinimum": since(draft3, plain),
	"exclusiveMaximum": since(draft3, plain), "divisibleBy": until(draft3, plain),
	"multipleOf": since(draft4, plain),
	"format":     describing(draft3),

	"contentEncoding":  describing(draft7),
	"contentMediaType": describing(draft7),
	"contentSchema":    describing(draft2019),
	"title":            describing(draft3),
	"description":      describing(draft3),
	"default":          describing(draft3),
	"examples":         describing(draft6),
	"$comment":         describing(draft7),
	"readOnly":         describing(draft7),
	"writeOnly":        describing(draft7),
	"deprecated":       describing(draft2019),
	"example":          {describes: true}, "nullable": {describes: true},
}
