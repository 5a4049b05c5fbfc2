// Package statefile is the file through which a running local stack tells its users how to reach it.
//
// It promises one description, written by the stack and read by all that use it, and that no reader sees half of it.
// Its commands for readers print an API key. It does not know how a stack runs.
package statefile

import (
	"encoding/json"
	"fmt"
	"os"
)

// Name is the file's, in the stack's folder.
const Name = "stack.json"

// Profile is the AWS profile by which AWS's own clients use the stack. It is defined in AWSConfigFile.
const Profile = "herald-local"

// State is a running stack's description of itself.
type State struct {
	APIURL           string            `json:"api_url"`
	AWSEndpointURL   string            `json:"aws_endpoint_url"` // every AWS service, Lambda's Invoke included
	AWSConfigFile    string            `json:"aws_config_file"`  // defines Profile
	Region           string            `json:"region"`
	StackName        string            `json:"stack_name"`
	EventsQueueURL   string            `json:"events_queue_url"`
	Queues           map[string]string `json:"queues"`    // logical id → URL
	Tables           map[string]string `json:"tables"`    // logical id → name
	Functions        map[string]string `json:"functions"` // folder name → deployed name
	TenantID         string            `json:"tenant_id"`
	APIKey           string            `json:"api_key"`
	CAFile           string            `json:"ca_file"`
	ReceiverCertFile string            `json:"receiver_cert_file"` // for localhost and 127.0.0.1
	ReceiverKeyFile  string            `json:"receiver_key_file"`
}

// Write replaces the file at path in one step.
func (s State) Write(path string) error {
	text, err := json.MarshalIndent(s, "", "  ") //nolint:gosec // a user who may read the file may use the key
	if err != nil {
		return fmt.Errorf("encoding the stack's state: %w", err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil { // it holds an API key
		return fmt.Errorf("writing the stack's state: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("writing the stack's state: %w", err)
	}
	return nil
}

// Read reads the file at path.
func Read(path string) (State, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path is the caller's own
	if err != nil {
		return State{}, fmt.Errorf("reading the stack's state: %w", err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("decoding the stack's state: %w", err)
	}
	return s, nil
}
