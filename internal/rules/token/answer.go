package token

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// MaxAnswer bounds the bytes of an answer that are read.
const MaxAnswer = 16 << 10

// Access is an access token, and how long it is used after it came.
type Access struct {
	Token string
	Life  time.Duration
}

// maxToken bounds a token: receivers take no longer headers.
const maxToken = 8 << 10

// sendable reports whether a token is without spaces, line feeds and anything else that could end a header or begin
// another value. It takes more than b64token (RFC 6750, 2.1), since servers give out more.
func sendable(token string) bool {
	outside := func(r rune) bool { return r <= ' ' || r > '~' }
	return token != "" && len(token) <= maxToken && !strings.ContainsFunc(token, outside)
}

// unsaid is the life of a token whose server says none that can be read.
const unsaid = 5 * time.Minute

var (
	errAnswer = errors.New("the answer is no token")
	errType   = errors.New("the token is of another type than Bearer")
	errToken  = errors.New("the token cannot be sent")
)

// Read returns the token in the body of a successful answer (RFC 6749, 5.1). Some servers begin the JSON with a byte
// order mark, or have other fields in an encoding such as ISO 8859-1. The token itself is ASCII all the same.
func Read(body []byte) (Access, error) {
	var in struct {
		Token   string         `json:"access_token"`
		Type    string         `json:"token_type"`
		Expires jsontext.Value `json:"expires_in"`
	}
	text := bytes.TrimPrefix(body, []byte("\ufeff"))
	switch err := json.Unmarshal(text, &in, jsontext.AllowInvalidUTF8(true)); {
	case len(body) > MaxAnswer, err != nil, in.Token == "":
		return Access{}, errAnswer // err may quote the token
	case !isBearer(in.Type):
		return Access{}, errType
	case !sendable(in.Token):
		return Access{}, errToken
	}
	return Access{in.Token, lifeOf(in.Expires)}, nil
}

// isBearer reports whether a token of a type is sent as a Bearer token. Shopify's servers name no type, and Apigee's
// say BearerToken.
func isBearer(kind string) bool {
	return kind == "" || strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "BearerToken")
}

// lifeOf is how long a token is used whose server says that it expires in so many seconds. A number in a text will do,
// which some servers send. The last tenth is left out, since deliveries take time.
func lifeOf(v jsontext.Value) time.Duration {
	text := strings.Trim(string(v), `"`)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(seconds) {
		return unsaid
	}
	seconds = min(max(seconds*0.9, Pause.Seconds()), longest.Seconds())
	return time.Duration(seconds * float64(time.Second))
}

// Refusal is why an answer with a status has no token; "" if it may have one. Only an answer that a change of the
// credentials may help is a refusal of them.
func Refusal(status int) delivery.Reason {
	switch {
	case status/100 == 2:
		return ""
	case status == 429 || status >= 500:
		return delivery.ReasonTokenUnreachable
	}
	return delivery.ReasonTokenRefused
}
