package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// progress is how far a restore is, with its results by item.
type progress struct {
	Table  string            `json:"table"`
	From   string            `json:"from"`
	Tenant string            `json:"tenant,omitempty"` // none: all
	After  map[string]string `json:"after"`            // the last key that was read

	Read     int `json:"read"`
	Restored int `json:"restored"` // or would be
	Kept     int `json:"kept"`     // there already, and left as they are
	Left     int `json:"left_out"` // that must not come back
	Mended   int `json:"mended"`   // counts of endpoints that were wrong
}

func (p progress) String() string {
	return fmt.Sprintf("%s: %d read, %d restored, %d there already, %d left out, %d counts mended",
		p.Table, p.Read, p.Restored, p.Kept, p.Left, p.Mended)
}

// start is the key behind which the next page begins. All keys of Herald's tables are texts.
func (p progress) start() item {
	if len(p.After) == 0 {
		return nil
	}
	key := item{}
	for name, value := range p.After {
		key[name] = &types.AttributeValueMemberS{Value: value}
	}
	return key
}

// end notes the key of the last item that was read; none after the last page.
func (p *progress) end(key item) {
	p.After = map[string]string{}
	for name := range key {
		p.After[name] = text(key, name)
	}
}

// resume returns the progress that an earlier run of the same restore has stored, or the beginning.
func resume(file string, beginning progress) (progress, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the user's own file
	if errors.Is(err, os.ErrNotExist) {
		return beginning, nil
	}
	if err != nil {
		return beginning, fmt.Errorf("reading progress: %w", err)
	}
	var p progress
	if err := json.Unmarshal(content, &p); err != nil {
		return p, fmt.Errorf("reading progress from %s: %w", file, err)
	}
	if p.Table != beginning.Table || p.From != beginning.From || p.Tenant != beginning.Tenant {
		return p, fmt.Errorf("%s is of another restore, of %s from %s; remove it to begin anew", file, p.Table, p.From)
	}
	return p, nil
}

func (p progress) save(file string) error {
	content, err := json.Marshal(p, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("encoding progress: %w", err)
	}
	if err := os.WriteFile(file+".part", append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("storing progress: %w", err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		return fmt.Errorf("storing progress: %w", err)
	}
	return nil
}

// forget removes the file of a restore that is complete.
func forget(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing progress: %w", err)
	}
	return nil
}
