package stack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Info is what a running stack tells about itself, in memory and as its state file.
type Info struct {
	APIURL            string            `json:"api_url"`
	AWSEndpointURL    string            `json:"aws_endpoint_url"`    // every AWS service, Lambda's Invoke included
	LambdaEndpointURL string            `json:"lambda_endpoint_url"` // the same endpoint
	Region            string            `json:"region"`
	StackName         string            `json:"stack_name"`
	EventsQueueURL    string            `json:"events_queue_url"`
	Queues            map[string]string `json:"queues"`    // logical id → URL
	Tables            map[string]string `json:"tables"`    // logical id → name
	Keys              map[string]string `json:"keys"`      // logical id → ARN
	Functions         map[string]string `json:"functions"` // folder name → deployed name
	TenantID          string            `json:"tenant_id"`
	APIKey            string            `json:"api_key"`
	CAFile            string            `json:"ca_file"`
	ReceiverCertFile  string            `json:"receiver_cert_file"` // for localhost and 127.0.0.1
	ReceiverKeyFile   string            `json:"receiver_key_file"`
}

// write replaces the state file in one step, so that no reader sees half of it.
func (i Info) write(path string) error {
	text, err := json.MarshalIndent(i, "", "  ") //nolint:gosec // whoever may read the file is meant to use the key
	if err != nil {
		return fmt.Errorf("encoding state: %w", err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil { // it holds an API key
		return fmt.Errorf("writing state: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("writing state: %w", err)
	}
	return nil
}

// lock takes the folder for this process. The kernel gives it back when the process ends, however it
// ends, so that a lock file left behind never stands in the way.
func lock(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "stack.lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // in the stack's own folder
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := os.ReadFile(file.Name()) // the message is clear without it
		_ = file.Close()
		return nil, fmt.Errorf("a stack is already running in %s (process %s): stop it first", dir, strings.TrimSpace(string(owner)))
	}
	if err := file.Truncate(0); err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
		if err == nil {
			return file, nil
		}
	}
	_ = file.Close()
	return nil, fmt.Errorf("writing lock: %w", err)
}
