// Package names has tenants' ids that a shell, a flag parser, an address or a key could take for something else.
package names

import "pgregory.net/rapid"

// Tenants are ids that identity products give, and the worst that the alphabet of event.ValidTenantID allows.
func Tenants() []string {
	return []string{
		"acme.com", "org:123", "auth0|42", "user@example.com", "..a", "-rf", "=1+1", "__proto__", "a:b|c", "~root",
		"--yes", "...", "+", "|", "a+b=c~d", "webhook_1", "org:job_42",
	}
}

// Refused are texts that no tenant is called.
func Refused() []string {
	return []string{
		"", ".", "..", "a b", "a/b", "a#b", "a,b", `a"b`, "a'b", `a\b`, "a%62", "$a", "`a`", "a*", "a;b", "(a)", "a&b", "a?b",
		"<a>", "{a}", "[a]", "!a", "^a", "é", "a\n", "a\x00",
	}
}

// Any draws tenants' ids from the whole alphabet, of every length.
func Any() *rapid.Generator[string] {
	return rapid.StringMatching(`[A-Za-z0-9_.:@|+=~-]{1,128}`).
		Filter(func(id string) bool { return id != "." && id != ".." })
}
