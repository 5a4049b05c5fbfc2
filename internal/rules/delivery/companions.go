package delivery

import "errors"

// Companions names the headers that a delivery has in addition to those of the specification: the same id, time and
// content, signed as stock libraries verify them.
type Companions string

// The values of the template's parameter CompanionHeaders. Libraries of Standard Webhooks read webhook-id,
// webhook-timestamp and webhook-signature (https://www.standardwebhooks.com), older ones of Svix svix-id,
// svix-timestamp and svix-signature.
const (
	CompanionsNone    Companions = "none"
	CompanionsWebhook Companions = "webhook"
	CompanionsSvix    Companions = "svix"
	CompanionsBoth    Companions = "webhook+svix"
)

// Validate refuses a value that is none of these.
func (c Companions) Validate() error {
	switch c {
	case CompanionsNone, CompanionsWebhook, CompanionsSvix, CompanionsBoth:
		return nil
	}
	return errors.New("must be none, webhook, svix or webhook+svix")
}

// Carry refuses signatures by key pairs where no header is sent that could have them: wh-signature has one signature.
func (c Companions) Carry(asymmetric bool) error {
	if asymmetric && c == CompanionsNone {
		return errors.New("on needs COMPANION_HEADERS: no other header may have several signatures")
	}
	return nil
}

// prefixes are those of the headers' names.
func (c Companions) prefixes() []string {
	switch c {
	case CompanionsWebhook:
		return []string{"Webhook-"}
	case CompanionsSvix:
		return []string{"Svix-"}
	case CompanionsBoth:
		return []string{"Webhook-", "Svix-"}
	}
	return nil
}
