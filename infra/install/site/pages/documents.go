package pages

import (
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

const (
	readme    = "README.md"
	receivers = "infra/docs/receivers.md"
	verifying = "infra/docs/verifying.md"
)

// cut is a section of a document that becomes a page.
type cut struct{ page, title, document, section string }

// documents adds the pages that come from documents, and the pages with code for receivers.
func (w *site) documents() {
	cuts := []cut{
		{"contract", "The delivery contract", readme, "Delivery contract"},
		{"receiving", "Receiving deliveries", receivers, "Rules"},
		{"outages", "When your endpoint fails", receivers, "When your endpoint fails"},
		{"rotation", "Rotating the secret", receivers, "Rotating the secret"},
		{"troubleshooting", "Why did it not verify?", verifying, ""},
	}
	if w.Companions != delivery.CompanionsNone {
		cuts = append(cuts, cut{"libraries", "Libraries", receivers, "Libraries"})
	}
	texts := map[string]string{}
	for _, path := range []string{readme, receivers, verifying} {
		texts[path] = w.source(path)
	}
	texts[receivers] = w.chosen(texts[receivers])
	if !w.PublicKeys {
		texts[verifying] = w.swap(texts[verifying], ", and `v1a,` for public keys", "")
	}
	if w.Companions == delivery.CompanionsNone {
		texts[readme] = w.swap(texts[readme], "**Two signatures.** The key", "**A signature.** The key")
		texts[readme] = w.swap(texts[readme], " `webhook-id`,\n   `webhook-timestamp` and `webhook-signature` repeat the "+
			"delivery for libraries, under the decoded key.", "")
		texts[readme] = w.swap(texts[readme], "secret, at once or [with overlap]("+receivers+"#rotating-the-secret).",
			"secret at once.")
		texts[verifying] = w.unaccompanied(texts[verifying])
	}
	w.verifying(texts[receivers])
	for _, c := range cuts {
		w.add(c.page, "# "+c.title+"\n\n"+w.adapted(section(texts[c.document], c.section)))
	}
	if w.PublicKeys {
		w.add("public-keys", "# Public keys\n\n"+w.adapted(section(texts[receivers], "Public keys")))
		for _, l := range keyVerifiers {
			w.code("jwks-"+l.page, l.name+", by public keys", l)
		}
	}
	w.files["check.sh"] = []byte(w.check())
}

// section is the text below a heading of the second level, or with "" all below the first.
func section(document, heading string) string {
	from := "## " + heading + "\n"
	if heading == "" {
		_, rest, _ := strings.Cut(document, "\n")
		return strings.TrimSpace(rest) + "\n"
	}
	_, rest, _ := strings.Cut(document, "\n"+from)
	inside, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(inside) + "\n"
}

// chosen keeps the parts of the receivers' document that hold for the adopter's stack.
func (w *site) chosen(text string) string {
	const operator = "Where the operator of Herald has chosen "
	text = w.swap(text, operator+"[`AsymmetricSignatures`](deploy.md#parameters), `webhook-signature` also has",
		"`webhook-signature` also has")
	text = w.swap(text, operator+"[`ForwardTrace`](deploy.md#parameters), a delivery may have a", "A delivery may have a")
	text = w.swap(text, " For code that reads `svix-` headers, ask the operator of Herald for\n"+
		"[`CompanionHeaders`](deploy.md#parameters).", "")
	text = w.swap(text, ", from Lambda's addresses, which change", "")
	text = w.companions(text)
	if !w.Traces {
		text = w.without(text, "**Traces.**")
	}
	text = w.without(text, "**A firewall**")
	return text
}

// companions leaves out the passages on headers that are not sent.
func (w *site) companions(text string) string {
	const both = "A delivery is signed twice, with HMAC-SHA256. Check one of the two:"
	const libraries = "Libraries of [Standard Webhooks](https://www.standardwebhooks.com) and of Svix verify deliveries"
	switch w.Companions {
	case delivery.CompanionsNone:
		text = w.swap(text, both, "A delivery is signed, with HMAC-SHA256:")
		text = w.without(text, "**A library knows one secret.**")
		return dropped(text, "`webhook-")
	case delivery.CompanionsSvix:
		text = w.swap(text, libraries, "Libraries of Svix verify deliveries")
		text = w.swap(text, "those for Go, Node.js, Python, Java and Rust", "those for Node.js, Python and Java")
		text = w.swap(text, "; Ruby, PHP and C# were read", "")
		text = standardized.ReplaceAllString(text, "| ")
		return dropped(text, "tandardwebhooks`", "tandard-webhooks/", "StandardWebhooks`")
	case delivery.CompanionsBoth:
		row := libraryRow.FindString(text)
		return w.swap(text, row, row+companion.ReplaceAllString(row, "${1}svix-"))
	}
	return text
}

// libraryRow is a row of the table of signatures.
var libraryRow = regexp.MustCompile(`(?m)^\| a \[library\].*\n`)

// standardized is the first of two packages in a cell, of Standard Webhooks.
var standardized = regexp.MustCompile("\\| `[a-z.:]*standardwebhooks`, [0-9.]+; ")

// unaccompanied is the document about failures for receivers that get wh- headers alone.
func (w *site) unaccompanied(text string) string {
	text = w.swap(text, " are the headers of one kind, `wh-…` or `webhook-…`.", " are the headers `wh-…`.")
	text = w.swap(text, "There are two readings of the secret, and one header for each:", "The key is the secret's text:")
	text = w.without(text, "A library takes the secret")
	before, rest, found := strings.Cut(text, "\n- `webhook-signature` may have")
	_, after, ended := strings.Cut(rest, "\n- ")
	if !found || !ended {
		w.fault("%s no longer says what webhook-signature may have", verifying)
	}
	return dropped(before+"\n- "+after, "`webhook-")
}

// dropped leaves out the rows of tables that have one of these texts.
func dropped(text string, with ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		has := func(part string) bool { return strings.Contains(line, part) }
		if !strings.HasPrefix(line, "|") || !slices.ContainsFunc(with, has) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// swap replaces a sentence that the document must have.
func (w *site) swap(text, before, after string) string {
	if !strings.Contains(text, before) {
		w.fault("the documents no longer have %q", before)
	}
	return strings.Replace(text, before, after, 1)
}

// without leaves out the paragraph that begins so.
func (w *site) without(text, begin string) string {
	before, rest, found := strings.Cut(text, "\n"+begin)
	if !found {
		w.fault("the documents no longer have a paragraph %q", begin)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	return before + "\n" + after
}

// targets are the pages that the documents' links lead to; "" leaves the text without a link.
//
//nolint:gochecknoglobals // a table
var targets = map[string]string{
	"../../README.md#delivery-contract": "contract.md", "receivers.md": "receiving.md",
	"verifying.md":       "troubleshooting.md",
	"receivers.md#rules": "receiving.md", "#rules": "receiving.md",
	"receivers.md#rotating-the-secret": "rotation.md", receivers + "#rotating-the-secret": "rotation.md",
	"#rotating-the-secret":      "rotation.md",
	"#how-to-verify":            "verifying.md",
	"#when-your-endpoint-fails": "outages.md", "#libraries": "libraries.md",
	"api.md": "api.md", "api.md#the-rest-of-its-life": "api.md", "../examples/check.sh": "check.sh",
	"moving-in.md#what-receivers-verify":    "",
	"infra/docs/capacity.md#figures":        "",
	"../examples/receiver/go/jwks/jwks.go":  "verify-jwks-go.md",
	"../examples/receiver/node/jwks.mjs":    "verify-jwks-node.md",
	"../examples/receiver/python/jwks.py":   "verify-jwks-python.md",
	"#a-proxy-or-a-gateway":                 "#a-proxy-or-a-gateway",
	"#encodings":                            "#encodings",
	"#the-clock":                            "#the-clock",
	"#the-comparison":                       "#the-comparison",
	"#the-raw-body":                         "#the-raw-body",
	"#which-key":                            "#which-key",
	"https://www.standardwebhooks.com":      "https://www.standardwebhooks.com",
	"https://www.w3.org/TR/trace-context-2": "https://www.w3.org/TR/trace-context-2",
}

var (
	link      = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	quote     = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`") // code, which stays as it is
	companion = regexp.MustCompile(`(^|[^-])\bwebhook-`)        // not wh-webhook-event
	brand     = regexp.MustCompile(`\bHerald\b`)
)

// adapted is a document's text with the site's links, headers and name.
func (w *site) adapted(document string) string {
	document = link.ReplaceAllStringFunc(document, func(found string) string {
		m := link.FindStringSubmatch(found)
		target, known := targets[m[2]]
		switch {
		case !known:
			w.fault("a document links to %s, which has no page", m[2])
			return m[1]
		case target == "", target == "libraries.md" && w.Companions == delivery.CompanionsNone:
			return m[1]
		}
		return "[" + m[1] + "](" + target + ")"
	})
	return w.headed(w.own(document))
}

// own puts the adopter's name in the place of Herald's, except in code.
func (w *site) own(document string) string {
	var b strings.Builder
	last := 0
	name := func(prose string) string {
		return brand.ReplaceAllLiteralString(prose, escaped(w.Name))
	}
	for _, at := range quote.FindAllStringIndex(document, -1) {
		b.WriteString(name(document[last:at[0]]) + document[at[0]:at[1]])
		last = at[1]
	}
	return b.String() + name(document[last:])
}

// headed has the names of the companion headers that are sent.
func (w *site) headed(document string) string {
	if w.Companions == delivery.CompanionsSvix {
		return companion.ReplaceAllString(document, "${1}svix-")
	}
	return document
}
