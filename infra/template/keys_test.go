package template

import (
	"maps"
	"slices"
)

// keyGrants are the statements of a key's policy that name a role of this stack, by role, each with the key as
// its resource.
func keyGrants(tpl template, key string) map[string][]object {
	grants := map[string][]object{}
	for _, s := range statements(tpl.Resources[key].Properties["KeyPolicy"]) {
		for _, principal := range list(at(s, "Principal")["AWS"]) {
			if role := target(principal); tpl.Resources[role].Type == "AWS::IAM::Role" {
				s = maps.Clone(s)
				s["Resource"] = object{"Ref": key}
				grants[role] = append(grants[role], s)
			}
		}
	}
	return grants
}

// granted is all that a role is allowed: by its own policies, and by those of keys.
func granted(tpl template, role string) []object {
	all := slices.Clone(roleStatements(tpl, role))
	for key := range tpl.OfType("AWS::KMS::Key") {
		all = append(all, keyGrants(tpl, key)[role]...)
	}
	return all
}
