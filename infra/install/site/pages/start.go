package pages

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// apiURL is the address of the API.
func (w *site) apiURL() string {
	return strings.TrimSuffix(cmp.Or(w.API, "https://api.example.com"), "/")
}

// bare are texts that mean themselves in a shell.
var bare = regexp.MustCompile(`^[\w./:%~@-]*$`)

// apiArgument is the address of the API as the beginning of a word of a command.
func (w *site) apiArgument() string {
	address := w.apiURL()
	if bare.MatchString(address) {
		return address
	}
	return argument(address)
}

// argument is a text as one word of a shell, whatever it has.
func argument(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// first is a type of the site with a pattern that selects it.
func (w *site) first() (name, pattern string) {
	for _, t := range w.Types {
		if t.Name == "user.created" {
			return t.Name, "user.*"
		}
	}
	return w.Types[0].Name, "*"
}

// start is the first page.
func (w *site) start() string {
	name := escaped(w.Name)
	eventType, pattern := w.first()
	help := "Ask whoever runs " + name
	if w.Support != "" {
		help = fmt.Sprintf("[Ask %s](<%s>)", name, strings.NewReplacer("<", "%3C", ">", "%3E").Replace(w.Support))
	}
	return fmt.Sprintf("# Webhooks of %s\n\n%s sends an HTTPS `POST` to your endpoint for each [event](events.md) it "+
		"subscribes to. To receive your first event:\n\n"+
		"1. %s for an API key.\n"+
		"2. Create an endpoint. Save the `signing_secret` of the answer: you cannot see it again. The URL must be HTTPS, on "+
		"port 443 of a public address. To receive on your own machine, use a tunnel. You get deliveries only, no "+
		"challenge.\n\n%s\n"+
		"3. [Verify](verifying.md) each delivery, and answer 2xx when its work is done. The [rules](receiving.md) fit on "+
		"one page.\n4. Send a test, with the `id` of the first answer. Add a `type` to get that event's sample:\n\n"+
		"%s\n"+
		"A test shows that you can verify a delivery. It does not show that your code can process one: receivers do not act "+
		"on tests. Try that with the samples of the [events](events.md), where names have letters outside ASCII.\n\n"+
		"If a delivery does not verify, [find out why](troubleshooting.md). [The contract](contract.md) says what is "+
		"retried and when, [outages](outages.md) what happens while you are down. The [API](api.md) lists every route.\n",
		name, name, help,
		fence("sh", `curl -sS `+w.apiArgument()+`/v1/webhooks -H "Authorization: Bearer $KEY" \
  -H 'Content-Type: application/json' -d '{"url":"https://example.com/webhooks","events":["`+pattern+`"]}'`),
		fence("sh", `curl -sS -X POST `+w.apiArgument()+`/v1/webhooks/$ID/test -H "Authorization: Bearer $KEY"
curl -sS `+w.apiArgument()+`/v1/webhooks/$ID/test -H "Authorization: Bearer $KEY" \
  -H 'Content-Type: application/json' -d '{"type":"`+eventType+`"}'`))
}

// addresses adds the page for those who have a firewall.
func (w *site) addresses() {
	var b strings.Builder
	b.WriteString("# Source addresses\n\n")
	if len(w.Addresses) == 0 {
		b.WriteString("Deliveries may come from any address.")
	} else {
		b.WriteString("Deliveries come from these addresses:\n\n")
		for _, a := range w.Addresses {
			fmt.Fprintf(&b, "- `%s`\n", a)
		}
	}
	b.WriteString("\n\nThis request returns the current addresses. It needs no API key, and you may cache the answer " +
		"for an hour. Others may share these addresses, so [verify](verifying.md) every delivery.\n\n")
	b.WriteString(fence("sh", "curl -sS "+w.apiArgument()+"/v1/source-addresses"))
	w.add("addresses", b.String())
}
