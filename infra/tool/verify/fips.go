package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// inFIPSMode says what one function says of itself. All are built alike: `herald code` compares each with its package.
func inFIPSMode(ctx context.Context, r *run) (string, error) {
	summary, err := client.Ask(ctx, r.Client, api.GetSummary, api.SummaryRequest{})
	switch {
	case err != nil:
		return "", fmt.Errorf("asking inspect for its mode: %w", err)
	case summary.FIPSModule == "" && r.FIPSEndpoints:
		return "", errors.New("FipsEndpoints is yes, but inspect is not in FIPS 140-3 mode: deploy what " +
			"make package FIPS=1 makes")
	case summary.FIPSModule == "":
		return "", errNothingToSay
	case !r.FIPSEndpoints:
		return fmt.Sprintf("Go Cryptographic Module %s; AWS is not called by its FIPS endpoints", summary.FIPSModule), nil
	}
	return fmt.Sprintf("Go Cryptographic Module %s, and FIPS endpoints of AWS", summary.FIPSModule), nil
}
