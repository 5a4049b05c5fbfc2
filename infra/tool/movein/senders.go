package movein

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// peer is an endpoint of another sender, in Herald's words.
type peer struct {
	id, tenant, host, url, description, secret string

	events  []string // names and patterns of the other sender; nil means all
	headers []endpoint.Header
	rate    int // deliveries a second; 0: no limit
	oauth   *oauth

	contact  string
	metadata map[string]string
}

// readers read an object of each sender.
var readers = map[Source]func(*record) peer{Svix: svix, Convoy: convoy, Outpost: outpost, Standard: standard}

// The reasons that several senders share.
const (
	noRate      = "Herald limits endpoints alone: set one there"
	noFilter    = "Herald chooses by event type alone: every event of the types is sent"
	noTransform = "Herald sends the data as it was published"
	noMTLS      = "Herald has no client certificates"
	unreadable  = "cannot be read back: have its owner set it here before the switch"
	older       = "the newest secret alone is converted: end the overlap before the switch"
)

// svix reads EndpointOut, with the answers EndpointSecretOut and EndpointHeadersOut, or the values in them, in the
// fields secret and headers.
func svix(r *record) peer {
	p := peer{
		id: r.text("id"), url: r.text("url"), description: r.text("description"),
		events: r.names("eventTypes", "filterTypes"), secret: r.secret("secret", "key"),
		rate: r.rate(time.Second, "throttleRate", "rateLimit"), metadata: r.metadata(),
	}
	answer := r.part("headers")
	if answer.fields["headers"].Kind() == '{' {
		p.headers = answer.headers("headers")
		for _, name := range answer.names("sensitive") {
			answer.note(name, unreadable)
		}
		answer.rest()
		r.adopt("headers", answer)
	} else {
		p.headers = r.headers("headers")
	}
	for _, name := range r.names("sensitive") {
		r.note("headers."+name, unreadable)
	}
	r.ignore("id", "createdAt", "updatedAt", "version")
	r.lose(map[string]string{
		"channels":       "Herald has no channels: every event of the types is sent",
		"transformation": noTransform, "transformationCode": noTransform,
		"uid": "Herald makes the ids of endpoints", "mtls": noMTLS,
		"oauth": "cannot be read back: have its owner set oauth2 here before the switch",
	})
	return p
}

// outpost reads a destination of the type webhook.
func outpost(r *record) peer {
	config, credentials := r.part("config"), r.part("credentials")
	p := peer{
		id: r.text("id"), url: cmp.Or(config.text("url"), r.text("url")), description: r.text("description", "name"),
		events: r.names("topics"), headers: config.headers("custom_headers"),
		secret:   cmp.Or(r.secret("secret"), credentials.secret("secret")),
		metadata: r.metadata(),
	}
	if kind := r.text("type"); kind != "" && kind != "webhook" {
		r.refuse("type", "is no webhook, and Herald sends to HTTPS endpoints alone")
		config, credentials = r.part(""), r.part("") // of another kind
	}
	credentials.ignore("previous_secret_invalid_at")
	credentials.lose(map[string]string{"previous_secret": older})
	for _, part := range []struct {
		name string
		*record
	}{{"config", config}, {"credentials", credentials}} {
		part.states()
		part.rest()
		r.adopt(part.name, part.record)
	}
	r.ignore("created_at", "updated_at", "target", "target_url")
	r.lose(map[string]string{
		"filter":            noFilter,
		"delivery_metadata": "Herald adds none to a delivery: where receivers read it, make it headers",
	})
	return p
}

// standard reads any other sender's endpoint, under the names that are usual.
func standard(r *record) peer {
	p := peer{
		id: r.text("id", "uid"), url: r.text("url", "endpoint_url", "target_url"),
		description: r.text("description", "name"), headers: r.headers("headers"),
		events: r.names("events", "event_types", "eventTypes", "filterTypes", "enabled_events", "topics", "types"),
		secret: r.secret("secret", "signing_secret", "signingSecret", "key"),
		rate:   r.rate(r.duration("rate_limit_duration", time.Second), "rate_limit", "rateLimit"),

		contact: r.text("contact", "support_email"), metadata: r.metadata(),
	}
	r.ignore("created_at", "updated_at", "createdAt", "updatedAt", "object")
	r.lose(map[string]string{
		"filter": noFilter, "filters": noFilter,
	})
	return p
}

// names of a Convoy project's rows that an endpoint or a subscription has, and that say nothing about deliveries.
var ofConvoy = []string{
	"uid", "project_id", "created_at", "updated_at", "failure_rate", "period_failure_rate", "cb_state",
	"success_count", "failure_count", "retry_count", "name", "type", "events", "source_metadata",
	"http_timeout", "advanced_signatures",
}

// convoy reads an endpoint, after its subscriptions were joined.
func convoy(r *record) peer {
	description := r.text("description")
	p := peer{
		id: r.text("uid"), url: r.text("url"), description: cmp.Or(description, r.text("name")),
		events: r.names("event_types"), secret: cmp.Or(r.secret("secret"), r.newest("secrets")),
		rate:    r.rate(r.duration("rate_limit_duration", time.Minute), "rate_limit"), // Convoy's default is a minute
		contact: r.text("support_email"), metadata: r.metadata(),
	}
	if r.value("event_types") == nil {
		r.refuse("event_types", "no subscription to it is in the file: add the answer of /subscriptions")
	}
	p.headers, p.oauth = r.authentication()
	if kind := r.text("content_type"); kind != "" && kind != "application/json" {
		r.note("content_type", "Herald sends application/json")
	}
	r.ignore(append(ofConvoy, "subscriptions")...)
	r.lose(map[string]string{
		"mtls_client_cert":  noMTLS,
		"slack_webhook_url": "notices are EventBridge's here", "teams_webhook_url": "notices are EventBridge's here",
	})
	return p
}

// newest is the secret of a list that signs longest.
func (r *record) newest(field string) (found string) {
	var list []struct {
		Value   string         `json:"value"`
		Expires jsontext.Value `json:"expires_at"`
		Deleted jsontext.Value `json:"deleted_at"`
	}
	v := r.value(field)
	if v != nil && json.Unmarshal(v, &list, lenient...) != nil {
		r.note(field, "are no secrets")
		return ""
	}
	live := 0
	for _, s := range list {
		if empty(s.Deleted) && s.Value != "" {
			live++
			if found == "" || empty(s.Expires) {
				found = s.Value
			}
		}
	}
	if live > 1 {
		r.note(field, older)
	}
	return found
}

// authentication is the header of an API key, or the credentials for tokens. Other kinds are reported. If there are
// several, the type names the one that Convoy uses.
func (r *record) authentication() ([]endpoint.Header, *oauth) {
	if empty(r.value("authentication")) {
		return nil, nil
	}
	part := r.part("authentication")
	kind := part.text("type")
	has := func(name string) bool { return (kind == "" || kind == name) && !empty(part.value(name)) }
	key := part.part("api_key")
	name, value := key.text("header_name"), key.text("header_value")
	switch {
	case has("api_key") && name != "" && value != "" && !strings.Contains(value, "[REDACTED]"):
		return []endpoint.Header{{Name: name, Value: value}}, nil
	case has("basic_auth"):
		r.note("authentication.basic_auth", unreadable+", as the header Authorization")
	case has("oauth2"):
		return nil, r.credentials(part.part("oauth2"))
	case len(part.fields) > 0 && name != "":
		r.note("authentication.api_key", unreadable)
	}
	return nil, nil
}
