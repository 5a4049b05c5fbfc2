// Command webhooks is the Lambda function behind the HTTP API, the management API, with which operators import
// endpoints, too.
package main

import (
	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
)

func main() {
	coldstart.Run("webhooks", webhooks.New)
}
