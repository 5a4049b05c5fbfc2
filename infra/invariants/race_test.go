//go:build race

package invariants

// slow says that everything takes ten times as long, under the race detector: what is tried in turn
// otherwise is then tried in part, another part every time.
const slow = true
