package cost

import "time"

// act is something that people do, and its price in dollars.
type act struct {
	name    string
	dollars float64
}

// The constants describe the scan of a table for an erasure. It is eventually consistent, so that half a unit reads 4
// KB, and it has eight parts. A partition gives 3,000 units a second.
const (
	scanUnit      = 4096.0 // bytes
	scanParts     = 8
	partitionGive = 3000.0 // units a second
)

// scan is the usage of reading a table of so many bytes, and the least time that it takes.
func scan(bytes float64) (used usage, least time.Duration) {
	used[reads] = bytes / scanUnit / 2
	return used, time.Duration(used[reads] / (scanParts * partitionGive) * float64(time.Second))
}

// rotated is the price of keys for a month, after so many yearly rotations: each of the first two adds the price of a
// key.
func rotated(count float64, rotations int) float64 {
	return usage{keys: count * float64(1+min(rotations, 2))}.all()
}

// publisher is the usage of sending a million events in batches of a size, with or without the tenant as message group.
// With a group, Lambda's receives and deletes of EventsQueue count as well, in batches of the same size.
func publisher(batch float64, group bool) (used usage) {
	used[published] = million / batch
	if group {
		used[fair] = 3 * million / batch // a send, a receive, a delete
	}
	return used
}
