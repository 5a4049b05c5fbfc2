package api

// EraseTenant deletes a part of what is stored about a tenant, or counts it in a dry run: API keys, endpoints with
// their contacts, metadata, marks and health, Backlog, records, dead letters, jobs that select the tenant, and
// unreadable dead letters with its id in the seal: each is opened to see. One that does not open stays, and is in the
// log. Tables without an index by tenant are scanned in eight parts at once. Provisioned capacity is slow until its
// scaling has followed. An older release that does not know contacts leaves them: after a rollback, erase again once
// the newer one is back.
var EraseTenant = Action[EraseRequest, Erased]{ReplayForGood, "erase"}

// EraseRequest names the tenant.
type EraseRequest struct {
	TenantID string `json:"tenant_id"`

	// Must repeat the tenant's id, since an erasure cannot be undone. A dry run needs none.
	Confirm string `json:"confirm"`

	// Why the tenant is erased, for the audit log: at most 256 printable characters.
	Reason string `json:"reason"`

	// Counts the items and deletes nothing.
	DryRun bool `json:"dry_run"`

	// The next_cursor of the answer before, to the same tenant and dry_run, such as where an erasure broke off. Left
	// out, the erasure begins anew.
	Cursor string `json:"cursor"`
}

// Erased is the answer of one request, about its own part.
type Erased struct {
	// How many items were deleted, or counted, by kind.
	Counts map[string]int `json:"counts"`

	// Null if nothing is left.
	NextCursor *string `json:"next_cursor"`
}
