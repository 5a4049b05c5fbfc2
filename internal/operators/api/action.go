package api

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// Function names an operator function, as its folder is called.
type Function string

// The operator functions.
const (
	Inspect  Function = "inspect"
	Replay   Function = "replay"
	Control  Function = "control"
	APIKeys  Function = "apikeys"
	Webhooks Function = "webhooks"

	// ReplayForGood is an alias of replay, with a right of its own. Replay deletes for good only if it is invoked by this
	// alias.
	ReplayForGood Function = "replaydelete"

	// InspectScan is the alias of inspect by which alone it reads the endpoints of all tenants. It has a right of its own.
	InspectScan Function = "inspectscan"

	// APIKeysRevoke is the alias of apikeys that lists and revokes keys, and issues none. It has a right of its own.
	APIKeysRevoke Function = "apikeysrevoke"
)

// Action is what a function can be asked for. It ties the type of the request to that of the answer, so that neither a
// handler nor a client can pair a request with another action's answer.
type Action[Request, Answer any] struct {
	Function Function
	Name     string // the field "action" of the request
}

// ForGood is the action at the alias of replay that may delete for good.
func (a Action[Request, Answer]) ForGood() Action[Request, Answer] {
	return a.At(ReplayForGood)
}

// At is the action asked of another function or alias, such as a dry run of what deletes for good.
func (a Action[Request, Answer]) At(function Function) Action[Request, Answer] {
	a.Function = function
	return a
}

// Envelope is a request as it is sent: the action, who asks, and the action's own fields beside them.
type Envelope[Request any] struct {
	Action string `json:"action"`

	// Who asks: 1 to 256 printable characters.
	Operator string  `json:"operator"`
	Fields   Request `json:",embed"`
}

// Encode writes the request of an operator. Zero fields are left out, since functions refuse empty ones.
func (a Action[Request, Answer]) Encode(operator string, request Request) ([]byte, error) {
	envelope := Envelope[Request]{Action: a.Name, Operator: operator, Fields: request}
	text, err := json.Marshal(envelope, json.OmitZeroStructFields(true), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the request %s of %s: %w", a.Name, a.Function, err)
	}
	return text, nil
}

// Decode reads the function's answer. A refusal is returned as a *[Refusal].
func (a Action[Request, Answer]) Decode(text []byte) (answer Answer, err error) {
	err = Decode(string(a.Function), text, &answer)
	return answer, err
}

// Decode reads the answer of a function into a value, unless that is nil. A refusal is returned as a *[Refusal].
func Decode(function string, text []byte, answer any) error {
	var refused Refused
	if err := json.Unmarshal(text, &refused); err != nil {
		return fmt.Errorf("%s answered no JSON: %w", function, err)
	}
	if refused.Error != nil {
		return refused.Error
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", function, err)
	}
	return nil
}
