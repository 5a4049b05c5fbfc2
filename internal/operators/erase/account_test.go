package erase

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// account is an account with a function that erases.
type account struct{ *operatortest.Account }

// function is that of a process.
func function(a *operatortest.Account, p *model.Process) lambda.Handler {
	eraser := Eraser{
		Items: a.Items, Letters: p.DeadLetters(), Vault: deadletter.Vault{Keys: p.OpeningKeys()},
		Log: a.Logger(), Now: time.Now,
	}
	return &invoke.Function{
		Name: "erase", Audit: a.Trail(p), Log: a.Logger(), Now: time.Now,
		Actions: invoke.Table(invoke.Serve(api.EraseTenant, eraser.Erase)),
	}
}

// inAccount runs a test in an account.
func inAccount(t *testing.T, do func(a *account)) {
	t.Helper()
	operatortest.In(t, function, func(a *operatortest.Account) { do(&account{a}) })
}

// erase makes requests until nothing is left, and adds up their counts. It ends with the first fault.
func (a *account) erase(fields string) (sum map[string]int, err error) {
	a.Helper()
	sum = map[string]int{}
	for next := ""; ; {
		answer, err := a.Within(operatortest.Timeout, `{"action":"erase","operator":"ann",`+fields+next+`}`)
		if err != nil {
			return sum, err
		}
		part := testkit.Read[api.Erased](a.T, answer)
		for kind, n := range part.Counts {
			sum[kind] += n
		}
		if part.NextCursor == nil {
			return sum, nil
		}
		next = `,"cursor":"` + *part.NextCursor + `"`
	}
}
