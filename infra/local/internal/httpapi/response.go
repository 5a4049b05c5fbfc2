package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

// response is a function's answer of payload format 2.0.
type response struct {
	StatusCode      *int              `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Cookies         []string          `json:"cookies"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`

	raw []byte
}

// read understands an answer. One without a status code is, as for API Gateway, itself the JSON body of a 200.
func read(result function.Result) (response, error) {
	if result.Error != "" {
		return response{}, errors.New("the invocation failed")
	}
	var r response
	var fields map[string]json.RawMessage
	if json.Unmarshal(result.Payload, &fields) != nil || fields["statusCode"] == nil {
		if !json.Valid(result.Payload) {
			return response{}, errors.New("the answer is not JSON")
		}
		ok := http.StatusOK
		headers := map[string]string{"content-type": "application/json"}
		return response{StatusCode: &ok, Headers: headers, raw: result.Payload}, nil
	}
	if err := json.Unmarshal(result.Payload, &r); err != nil {
		return response{}, fmt.Errorf("decoding answer: %w", err)
	}
	if r.StatusCode == nil || *r.StatusCode < 200 || *r.StatusCode > 599 {
		return response{}, errors.New("the answer has no valid status code")
	}
	r.raw = []byte(r.Body)
	if r.IsBase64Encoded {
		var err error
		if r.raw, err = base64.StdEncoding.DecodeString(r.Body); err != nil {
			return response{}, fmt.Errorf("decoding body: %w", err)
		}
	}
	return r, nil
}

func (r response) write(w http.ResponseWriter) int {
	for name, value := range r.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range r.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	if w.Header().Get("Content-Type") == "" && len(r.raw) > 0 {
		w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	}
	w.WriteHeader(*r.StatusCode)
	_, _ = w.Write(r.raw) // the client may have left
	return *r.StatusCode
}
