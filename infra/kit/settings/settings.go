// Package settings starts the settings page to copy, infra/examples/settings, for a tenant of a local stack.
//
// It promises that the page ends with the program, and that it knows of the stack what an adopter's server knows: the
// address of the API, and a way to invoke apikeys.
package settings

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// Page is where a page finds what it needs.
type Page struct {
	Root string    // the checkout
	Keys string    // the folder of the tenants' sealed keys, which the page empties first
	Log  io.Writer // gets its complaints
}

// Start serves the page by the node in PATH, and returns its address.
func (p Page) Start(ctx context.Context, tenant *client.Client) (page *child.Process, address string, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "", fmt.Errorf("looking for Node.js: %w", err)
	}
	//nolint:gosec // the caller's own checkout
	cmd := exec.Command(node, filepath.Join(p.Root, "infra", "examples", "settings", "demo.mjs"))
	cmd.Env = append(os.Environ(), "HERALD_API="+tenant.APIURL, "TENANT="+tenant.TenantID, "KEYS="+p.Keys,
		"INVOKE="+tenant.AWSEndpointURL+"/2015-03-31/functions/"+tenant.Functions["apikeys"]+"/invocations")
	cmd.Stderr = p.Log
	return child.StartTelling(ctx, cmd, time.Minute, io.Discard)
}
