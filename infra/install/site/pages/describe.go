package pages

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// described changes the API description into the adopter's: name, support and address, and the headers that are sent.
// It keeps all else, the texts of the wire included.
func (w *site) described(root *yaml.Node) {
	w.contact(root)
	w.sent(root)
	missing := w.swaps()
	w.texts("", root, missing)
	for before := range missing {
		w.fault("the API description no longer has %q", before)
	}
}

// contact tells a generator of clients the address and the ones to ask.
func (w *site) contact(root *yaml.Node) {
	who := map[string]string{"name": w.Name}
	if address, isMail := strings.CutPrefix(w.Support, "mailto:"); isMail {
		who["email"], _, _ = strings.Cut(address, "?")
	} else if w.Support != "" {
		who["url"] = w.Support
	}
	w.encode(member(root, "info", "contact"), who)
	w.encode(member(root, "servers"), []map[string]string{{"url": w.apiURL()}})
}

func (w *site) encode(into *yaml.Node, value any) {
	if into == nil {
		w.fault("the API description has no info.contact or no servers")
		return
	}
	if err := into.Encode(value); err != nil {
		w.fault("describing the adopter: %w", err)
	}
}

// sent leaves out the headers of deliveries that the adopter's stack does not send.
func (w *site) sent(root *yaml.Node) {
	list := member(root, "x-delivery", "parameters")
	if list == nil {
		w.fault("the API description has no headers of a delivery")
		return
	}
	list.Content = slices.DeleteFunc(list.Content, func(p *yaml.Node) bool {
		name := word(p, "name")
		isCompanion := strings.HasPrefix(name, "webhook-")
		return isCompanion && w.Companions == delivery.CompanionsNone || name == "wh-key-id" && !w.PublicKeys
	})
}

// swaps are the description's passages on choices of an operator, with the passages of an adopter who has chosen.
func (w *site) swaps() map[string]string {
	const (
		chosen = "The operator of Herald chooses whether they are sent, and whether they are also sent as `svix-id`,\n" +
			"`svix-timestamp` and `svix-signature`.\n"
		key = " A signature that begins with `v1a,` is of the same\ncontent by the endpoint's Ed25519 key, if the " +
			"operator of Herald has turned these keys on."
		overlap = "With `previous_secret_hours`, the old secret also signs deliveries\nfor that time: " +
			"`webhook-signature` then has two values, and `wh-signature` that of the new secret."
		standard = "[Standard Webhooks](https://www.standardwebhooks.com)"
		decoded  = " The key of `webhook-signature` is\nwhat the Base64 after the prefix decodes to."
	)
	all := map[string]string{}
	if w.Companions == delivery.CompanionsNone {
		all[overlap] = "With `previous_secret_hours`, nothing changes for\n`wh-signature`: it has the new secret at once."
		all[decoded] = ""
		return all
	}
	all[chosen] = ""
	switch w.Companions {
	case delivery.CompanionsBoth:
		all[chosen] = "They are also sent as `svix-id`, `svix-timestamp` and `svix-signature`.\n"
	case delivery.CompanionsSvix:
		all[standard] = "Svix"
	}
	if !w.PublicKeys {
		all[key] = ""
	}
	return all
}

// texts gives the scalars below a node the adopter's name and headers, and swaps passages, which it takes from swaps.
func (w *site) texts(key string, n *yaml.Node, swaps map[string]string) {
	n.HeadComment = "" // comments are for those who keep the description
	n.LineComment = ""
	n.FootComment = ""
	if n.Tag == "!!merge" {
		n.Tag = "" // or the encoder writes it
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			w.texts("", n.Content[i], swaps)
			w.texts(n.Content[i].Value, n.Content[i+1], swaps)
		}
	case yaml.ScalarNode:
		for before, after := range swaps {
			if strings.Contains(n.Value, before) {
				n.Value = strings.Replace(n.Value, before, after, 1)
				delete(swaps, before)
			}
		}
		switch key {
		case "description":
			n.Value = w.own(n.Value)
		case "title":
			n.Value = brand.ReplaceAllLiteralString(n.Value, w.Name)
		}
		n.Value = w.headed(n.Value)
	default:
		for _, each := range n.Content {
			w.texts("", each, swaps)
		}
	}
}

// encoded is a description as a file, with its anchors.
func encoded(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(root), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing the API description: %w", err)
	}
	return b.Bytes(), nil
}
