//go:build !race

package webhooks

const detectsRaces = false
