package deadletter

import "time"

// The rules of the table DeadLetters. Each decides on a write by the record that is stored: package dynamo and the
// model of the tests follow them, and package storetest compares the two.

// Follows reports whether r may be added to the stored record, sealed as its n-th death: each replay dies once, however
// often its message is received, and no death is left out.
func (r Record) Follows(stored Record, n int) bool {
	return stored.Replay < r.Replay && len(stored.Sealed.History) == n-1
}

// Claim returns the number of the replay for which r, as it was read, may be claimed. It is fresh unless it resumes a
// replay that broke off. ok is false while a replay is under way, and after a replay has sent the message.
func (r Record) Claim(now time.Time) (replay int, fresh, ok bool) {
	switch {
	case r.Status == Dead:
		return r.ReplayCount + 1, true, true
	case r.Status == Replaying && now.Sub(r.UpdatedAt) >= StaleClaim:
		return r.ReplayCount, false, true
	}
	return 0, false, false
}

// Untouched reports whether nothing was written since seen was read: only then the record may be claimed or purged.
func (r Record) Untouched(seen Record) bool {
	return r.Status == seen.Status && r.UpdatedAt.Equal(seen.UpdatedAt)
}

// Claimed reports whether the replay of this number has the record: only then it may end.
func (r Record) Claimed(replay int) bool { return r.Status == Replaying && r.ReplayCount == replay }
