package webhooks

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/problem"
)

// view is an endpoint as its tenant sees it. Times are RFC 3339 in UTC with milliseconds.
type view struct {
	ID              string          `json:"id"`
	URL             string          `json:"url"`
	Description     string          `json:"description"`
	Events          []string        `json:"events"`
	HeaderNames     []string        `json:"header_names,omitempty"` // where the owner has set headers
	Status          endpoint.Status `json:"status"`
	CreatedAt       *string         `json:"created_at"`
	UpdatedAt       *string         `json:"updated_at"`
	DeletedAt       *string         `json:"deleted_at"`
	SecretRotatedAt *string         `json:"secret_rotated_at"`
	SigningSecret   string          `json:"signing_secret,omitzero"` // create and rotate only
}

type typesAnswer struct {
	EventTypes []string `json:"event_types"`
	Patterns   []string `json:"patterns"`
}

type eventType struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"` // of data
}

func viewOf(e endpoint.Endpoint) view {
	return view{
		ID: e.ID, URL: e.URL, Description: e.Description, Events: e.Events, Status: e.Status,
		HeaderNames: e.HeaderNames,
		CreatedAt:   when(e.CreatedAt), UpdatedAt: when(e.UpdatedAt), DeletedAt: when(e.DeletedAt),
		SecretRotatedAt: when(e.SecretRotatedAt),
	}
}

func when(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

// respond writes an answer as JSON, nil as none.
func respond(status int, body any) (response, error) {
	if body == nil {
		return response{StatusCode: status, Headers: map[string]string{}}, nil
	}
	b, err := json.Marshal(body, jsontext.EscapeForHTML(false))
	if err != nil {
		return response{}, fmt.Errorf("encoding answer: %w", err)
	}
	header := map[string]string{"Content-Type": "application/json"}
	return response{StatusCode: status, Headers: header, Body: string(b)}, nil
}

func refusal(p *problem.Error, c *call) response {
	header := map[string]string{"Content-Type": problem.MediaType}
	switch p.Code {
	case problem.CodeUnauthenticated:
		header["WWW-Authenticate"] = "Bearer"
	case problem.CodeMethodNotAllowed:
		header["Allow"] = p.Allow
	case problem.CodeUnavailable:
		header["Retry-After"] = "5" // seconds
	case problem.CodeTooManyRequests:
		header["Retry-After"] = strconv.Itoa(60 - c.now.Second()) // until the next minute
	}
	return response{StatusCode: p.Code.Status(), Headers: header, Body: string(p.Document(c.id()))}
}
