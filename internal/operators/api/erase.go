package api

// EraseTenant deletes a part of what is stored about a tenant, or counts it in a dry run.
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

	// The next_cursor of the answer before, to the same tenant and dry_run. Left out, the erasure begins anew.
	Cursor string `json:"cursor"`
}

// Erased is the answer of one request, about its own part.
type Erased struct {
	// How many items were deleted, or counted, by kind.
	Counts map[string]int `json:"counts"`

	// Null if nothing is left.
	NextCursor *string `json:"next_cursor"`
}
