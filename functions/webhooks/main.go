// Command webhooks is the Lambda function behind the HTTP API, the management API, with which operators import
// endpoints, too.
package main

import (
	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/webhooks"
)

func main() {
	coldstart.Run("webhooks", webhooks.New)
}
