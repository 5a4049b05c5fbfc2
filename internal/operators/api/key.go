package api

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// The actions of apikeys.
var (
	// IssueKey makes a key.
	IssueKey = Action[IssueKeyRequest, IssuedKey]{APIKeys, "issue"}

	// ListKeys shows a tenant's keys, newest first, revoked ones included.
	ListKeys = Action[KeysRequest, List[Key]]{APIKeysRevoke, "list"}

	// RevokeKey ends a key for every request that starts after the answer. Revoking again changes nothing.
	RevokeKey = Action[RevokeKeyRequest, Key]{APIKeysRevoke, "revoke"}

	// RevokeAllKeys ends all keys of a tenant, or as many as there is time for.
	RevokeAllKeys = Action[RevokeAllRequest, RevokedKeys]{APIKeysRevoke, "revoke_all"}
)

// IssueKeyRequest asks for a key. Any tenant id of the right form will do: Herald keeps no list of tenants.
type IssueKeyRequest struct {
	TenantID string `json:"tenant_id"`

	// What the key may do. Left out, it may do everything.
	Scopes *[]apikey.Scope `json:"scopes"`

	// What the key is for, so that the owner can tell it from others.
	Description string `json:"description"`
}

// KeysRequest names the tenant whose keys are listed.
type KeysRequest struct {
	Page
	TenantID string `json:"tenant_id"`
}

// RevokeKeyRequest names one key.
type RevokeKeyRequest struct {
	KeyID string `json:"key_id"`

	// If it is given, the key of another tenant is refused.
	TenantID string `json:"tenant_id"`
}

// RevokeAllRequest names the tenant whose keys are revoked.
type RevokeAllRequest struct {
	TenantID string `json:"tenant_id"`

	// Must be true, since a revoked key stays revoked.
	Confirm bool `json:"confirm"`

	// Why, for the audit log: at most 256 printable characters.
	Reason string `json:"reason"`

	// The next_cursor of the answer before, to the same tenant. Left out, the work begins anew.
	Cursor string `json:"cursor"`
}

// RevokedKeys is the answer of one request, about its own part.
type RevokedKeys struct {
	TenantID string `json:"tenant_id"`

	// How many keys the request has revoked. Those that were revoked before are not counted.
	Revoked int `json:"revoked"`

	// Null once the keys were listed again from the first to the last, and none was left.
	NextCursor *string `json:"next_cursor"`
}

// Key is a key without its text.
type Key struct {
	// The part of the key between hk_ and the next _.
	KeyID       string         `json:"key_id"`
	TenantID    string         `json:"tenant_id"`
	Scopes      []apikey.Scope `json:"scopes"`
	Description string         `json:"description"`
	CreatedAt   time.Time      `json:"created_at"`

	// To the minute. Null if the key was never used.
	LastUsedAt time.Time `json:"last_used_at"`

	// Null if it is still good.
	RevokedAt time.Time `json:"revoked_at"`
}

// IssuedKey is a new key.
type IssuedKey struct {
	Key

	// The text of the key. It is shown here and nowhere else.
	APIKey string `json:"api_key"`
}
