package pages

import (
	"fmt"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// receiver is the code of a receiver or verifier.
type receiver struct{ page, name, language, path string }

//nolint:gochecknoglobals // a table
var (
	receiversCode = []receiver{
		{"go", "Go", "go", "infra/examples/receiver/go/receiver.go"},
		{"node", "Node.js", "js", "infra/examples/receiver/node/receiver.mjs"},
		{"python", "Python", "python", "infra/examples/receiver/python/receiver.py"},
		{"java", "Java", "java", "infra/examples/receiver/java/Receiver.java"},
		{"ruby", "Ruby", "ruby", "infra/examples/receiver/ruby/receiver.rb"},
		{"php", "PHP", "php", "infra/examples/receiver/php/receiver.php"},
		{"rust", "Rust", "rust", "infra/examples/receiver/rust/src/receiver.rs"},
		{"shell", "Shell with openssl", "sh", checker},
	}
	keyVerifiers = []receiver{
		{"go", "Go", "go", "infra/examples/receiver/go/jwks/jwks.go"},
		{"node", "Node.js", "js", "infra/examples/receiver/node/jwks.mjs"},
		{"python", "Python", "python", "infra/examples/receiver/python/jwks.py"},
	}
)

// sample is a delivery of an invented endpoint, for those who write their own.
func (w *site) sample() string {
	const (
		secret = "whsec_dGhpcyBpcyBub3QgYSBzZWNyZXQsIGl0IGlzIGEgdGVzdCE=" //nolint:gosec // of no endpoint
		id     = "msg_5lonefntaevwu23dyv6ksj34ucdixink"
		time   = 1764000000
		body   = `{"type":"user.created","data":{"userId":"user_1","name":"Zoë"}}`
	)
	var b strings.Builder
	fmt.Fprintf(&b, "| part | value |\n|---|---|\n| secret | `%s` |\n| id | `%s` |\n| timestamp | `%d` |\n"+
		"| body, %d bytes of UTF-8 | `%s` |\n| `wh-signature` | `%s` |\n", secret, id, time, len(body), body,
		signature.Sign(secret, id, time, []byte(body)))
	for _, prefix := range w.prefixes() {
		fmt.Fprintf(&b, "| `%ssignature` | `%s` |\n", prefix, signature.SignDecoded(secret, id, time, []byte(body)))
	}
	b.WriteString("\nThis delivery is old, so turn off the check of its age. Then change one character of the body, the " +
		"id or the secret: your code must refuse it.\n")
	return b.String()
}

// verifying adds the page that tells how, from the receivers' document, and one with code for each language.
func (w *site) verifying(document string) {
	var b strings.Builder
	b.WriteString("# Verifying a delivery\n\n" + w.adapted(section(document, "How to verify")) +
		"\n[Receiving](receiving.md) has the other rules.\n\n## Test your code\n\n")
	b.WriteString(w.sample())
	b.WriteString("\n## Code to copy\n\n")
	for _, l := range receiversCode {
		fmt.Fprintf(&b, "- [%s](verify-%s.md)\n", l.name, l.page)
	}
	w.add("verifying", b.String())
	for _, l := range receiversCode {
		w.code(l.page, l.name, l)
	}
}

// prefixes are those of the companion headers' names.
func (w *site) prefixes() []string {
	return map[delivery.Companions][]string{
		delivery.CompanionsWebhook: {"webhook-"}, delivery.CompanionsSvix: {"svix-"},
		delivery.CompanionsBoth: {"webhook-", "svix-"},
	}[w.Companions]
}

func (w *site) code(name, title string, l receiver) {
	text := w.headed(w.source(l.path))
	if l.path == checker {
		text = w.check()
	}
	w.addSub("verify-"+name, "# Verifying in "+title+"\n\n"+
		"Copy this code. [Receiving](receiving.md) says what else it must do.\n\n"+fence(l.language, text))
}

// checker is the script that says why a delivery did not verify.
const checker = "infra/examples/check.sh"

// check is the script with the adopter's name, as a text of the shell.
func (w *site) check() string {
	text := w.source(checker)
	if w.Companions == delivery.CompanionsNone {
		text = w.swap(text, ": wh- or webhook-", ": wh-")
		text = w.swap(text, ", as webhook-signature does", "")
	}
	return w.swap(w.headed(text), "\nsender=Herald\n", "\nsender="+argument(w.Name)+"\n")
}
