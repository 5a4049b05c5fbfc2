package mapping

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errUnreadable says that an answer cannot be taken as a list of failures: the whole batch failed.
var errUnreadable = errors.New("partial batch response cannot be read")

// failures reads a partial batch response by AWS's rules and returns the ids that failed.
//
// A null or empty answer, and a null, empty or absent list, mean that all succeeded. Anything else
// that is not a list of items naming a message of the batch means that all failed.
func failures(answer []byte, batch map[string]bool) (map[string]bool, error) {
	answer = bytes.TrimSpace(answer)
	if len(answer) == 0 || bytes.Equal(answer, []byte("null")) {
		return nil, nil
	}
	var response map[string]json.RawMessage // maps, since struct fields match in any case
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, errUnreadable
	}
	var items []map[string]json.RawMessage
	if list, given := response["batchItemFailures"]; given {
		if err := json.Unmarshal(list, &items); err != nil {
			return nil, errUnreadable
		}
	}
	failed := make(map[string]bool, len(items))
	for _, item := range items {
		var id string
		if err := json.Unmarshal(item["itemIdentifier"], &id); err != nil || !batch[id] {
			return nil, errUnreadable
		}
		failed[id] = true
	}
	return failed, nil
}
