//go:build emulator

package cost

import "github.com/herald-webhooks/herald/internal/queue"

// receives is what SQS bills for the records of one invocation: Lambda receives ten messages at a time.
func receives(records []queue.Record) (requests int) {
	for from := 0; from < len(records); from += sqsBatch {
		bytes := 0
		for _, r := range records[from:min(from+sqsBatch, len(records))] {
			bytes += len(r.Body)
			for name, a := range r.MessageAttributes {
				bytes += len(name) + len(a.DataType) + len(a.StringValue)
			}
		}
		requests += chunks(bytes)
	}
	return requests
}
