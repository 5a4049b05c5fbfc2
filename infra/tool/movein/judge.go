package movein

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// judge holds endpoints to the rules, one after the other.
type judge struct {
	Rules

	live map[string][]endpoint.Endpoint // of a tenant; the id is the number of the object
}

func newJudge(rules Rules) *judge {
	return &judge{Rules: rules, live: map[string][]endpoint.Endpoint{}}
}

// line is an endpoint as a line of the file that `herald endpoints import` takes, nil where it cannot be converted.
func (s *judge) line(r *record, p *peer) []byte {
	if r.fields == nil {
		r.refuse("", "is no object")
		return nil
	}
	p.tenant = s.tenant(r)
	r.states()
	stored := s.address(r, p)
	p.oauth = s.oauth(r, p.oauth)
	made := management.ImportedEndpoint{
		TenantID: management.Of(p.tenant), Secret: management.Of(s.secret(r, p.secret)),
		EndpointChange: management.EndpointChange{NewEndpoint: management.NewEndpoint{
			URL: management.Of(p.url), Events: management.Of(events(r, p.events)),
			Description: given(description(r, p.description)), Contact: given(contact(r, p.contact)),
			OAuth2: p.oauth.member(),
		}},
	}
	if kept := management.Headers(headers(r, p.headers)); len(kept) > 0 {
		made.Headers = management.Of(&kept)
	}
	if kept := management.Metadata(metadata(r, p.metadata)); len(kept) > 0 {
		made.Metadata = management.Of(kept)
	}
	if p.rate > 0 {
		made.RateLimit = management.Of(&p.rate)
	}
	if r.off {
		made.Status = management.Of(string(endpoint.Disabled))
	}
	s.bound(r, p, stored)
	r.rest()
	if r.out {
		return nil
	}
	text, err := json.Marshal(made, json.Deterministic(true))
	if err != nil { // texts were read as UTF-8, or mended
		r.refuse("", "cannot be written as JSON")
		return nil
	}
	return text
}

// given is a member with a text, and none for "".
func given(text string) management.Member[string] {
	if text == "" {
		return management.Member[string]{}
	}
	return management.Of(text)
}

// tenant is the id of the endpoint's tenant.
func (s *judge) tenant(r *record) (id string) {
	path := "tenant_id"
	switch {
	case s.Tenant != "":
		return s.Tenant
	case s.Field != "":
		path = s.Field
	case s.From == Convoy && r.fields["tenant_id"] == nil:
		path = "owner_id"
	}
	id = r.at(path)
	r.ignore("tenant_id")
	if s.From == Convoy {
		r.ignore("owner_id")
	}
	mapped, known := s.Tenants[id]
	switch {
	case id == "":
		r.refuse(path, "names no tenant: see --tenant and --tenant-field")
	case known:
		id = mapped
	case s.Tenants != nil:
		r.refuse(path, shortened(id)+" is not in the file of --tenant-map")
		id = ""
	case !event.ValidTenantID(id):
		rule := strings.Replace(event.TenantIDRule, "must be", "has", 1)
		r.refuse(path, "is not the id of a tenant, which "+rule+": see --tenant-map")
		id = ""
	}
	return id
}

// at is the text or the number at a path of fields.
func (r *record) at(path string) (text string) {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if deeper {
			r, path = r.part(name), rest
			continue
		}
		v := r.value(name)
		if v.Kind() == '0' {
			return string(v)
		}
		if v.Kind() == '"' && json.Unmarshal(v, &text, lenient...) != nil {
			return ""
		}
		return text
	}
}

// address returns the URL as Herald stores it, "" where it takes none such.
func (s *judge) address(r *record, p *peer) string {
	if p.url == "" {
		r.refuse("url", "is missing")
		return ""
	}
	if u, err := url.Parse(p.url); err == nil {
		p.host = shortened(u.Hostname())
	}
	stored, err := s.URLs.Normalise(p.url)
	if err != nil {
		r.refuse("url", err.Error())
		return ""
	}
	return stored
}

// secret is the secret as receivers know it.
func (s *judge) secret(r *record, secret string) string {
	if secret == "" {
		r.refuse("secret", "is missing: without it the receiver could verify nothing")
		return ""
	}
	if err := signature.CheckImported(secret); err != nil {
		r.refuse("secret", err.Error())
	}
	return secret
}

// bound holds an endpoint against those before it.
func (s *judge) bound(r *record, p *peer, stored string) {
	if r.out {
		return
	}
	e := endpoint.Endpoint{ID: strconv.Itoa(r.number), URL: stored, Site: endpoint.SiteOf(stored)}
	if p.oauth != nil {
		e.OAuth = &endpoint.OAuth{TokenURL: p.oauth.TokenURL}
	}
	live := s.live[p.tenant]
	clash := e.Clashes(live, s.Bounds)
	switch {
	case clash.With != "":
		r.refuse("url", "the tenant has it in object "+clash.With+", too")
	case len(live) == s.Bounds.Live:
		r.refuse("tenant_id", fmt.Sprintf("has more than %d endpoints: see --per-tenant", s.Bounds.Live))
	case clash.SiteFull:
		at := "url"
		if clash.OfTokens {
			at = ofOAuth
		}
		r.refuse(at, fmt.Sprintf("the tenant has more than %d endpoints at the domain: see --per-host", s.Bounds.AtSite))
	default:
		s.live[p.tenant] = append(live, e)
	}
}
