package catalogue

import _ "embed" // Specification

// Specification is the catalogue of the specification's types. No function refers to it, so it is not linked into any.
//
//go:embed catalogue.yaml
var Specification string
