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
	help := "Ask the one who runs " + name
	if w.Support != "" {
		help = fmt.Sprintf("[Ask %s](<%s>)", name, strings.NewReplacer("<", "%3C", ">", "%3E").Replace(w.Support))
	}
	return fmt.Sprintf("# Webhooks of %s\n\n%s sends an HTTPS `POST` to your endpoint for each [event](events.md) that "+
		"it subscribes to. To get the first one:\n\n"+
		"1. %s for an API key.\n"+
		"2. Create an endpoint. Keep `signing_secret` of the answer: it is shown this once. The URL is HTTPS, on port 443 "+
		"of a public address: to receive on your own machine, take a tunnel. No challenge is sent there, and nothing but "+
		"deliveries.\n\n%s\n"+
		"3. [Verify](verifying.md) what arrives there, and answer 2xx when its work is done. The [rules](receiving.md) are "+
		"one page.\n4. Have a test sent, with the `id` of the first answer. With a `type` it has that event's sample:\n\n"+
		"%s\n"+
		"A test shows that you verify, and not that your work succeeds, since you do none by it. Try that with the samples "+
		"of the [events](events.md): their names have more letters than ASCII.\n\n"+
		"If it does not verify, [this page](troubleshooting.md) finds out why. [The contract](contract.md) says what is "+
		"retried and when, [outages](outages.md) what happens while you are down, and the [API](api.md) has every route.\n",
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
	b.WriteString("\n\nThe current ones are in the answer of this request. It needs no API key, and its answer may be " +
		"kept for an hour. Others may have these addresses too, so [verify](verifying.md) in any case.\n\n")
	b.WriteString(fence("sh", "curl -sS "+w.apiArgument()+"/v1/source-addresses"))
	w.add("addresses", b.String())
}
