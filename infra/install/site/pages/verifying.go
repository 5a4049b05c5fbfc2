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

// verifying adds the page that tells how, and one with code for each language.
func (w *site) verifying() {
	var b strings.Builder
	fmt.Fprintf(&b, "# Verifying a delivery\n\nEach delivery is a `POST` with these headers:\n\n| header | contents |\n"+
		"|---|---|\n| `wh-id` | the delivery's id, the same at each attempt |\n| `wh-timestamp` | the time of "+
		"this attempt, in seconds since 1970 |\n| `wh-signature` | `v1,` and a signature in Base64 |\n"+
		"| `wh-webhook-event` | the event type, for routing; not signed |\n"+
		"| `content-type`, `content-length` | `application/json`, and the body's length in "+
		"bytes |\n| `user-agent` | `Herald/…`, with a version; not signed |\n")
	for _, prefix := range w.prefixes() {
		fmt.Fprintf(&b, "| `%[1]sid`, `%[1]stimestamp` | the same values, for [libraries](libraries.md) |\n"+
			"| `%[1]ssignature` | one or more signatures under the decoded secret, separated by spaces |\n", prefix)
	}
	b.WriteString("\nTo verify one in any language:\n\n1. Read the body as **bytes**, before anything parses it.\n" +
		"2. Join the id, a dot, the timestamp, a dot and the body.\n3. Compute the HMAC-SHA256 of the result. The key is " +
		"the text of your secret, including `whsec_`.\n4. Encode it in Base64 with padding, put `v1,` before it, and " +
		"compare it with `wh-signature` in constant time.\n5. Answer 400 if they differ, or if the timestamp is more than " +
		"300 seconds from your clock.\n\n[Receiving](receiving.md) has the other rules.\n\n## Test your code\n\n")
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
