package usage

import "testing"

func TestCheckAccount_takesTwelveDigits(t *testing.T) {
	for _, account := range []string{"1", "prod", "11112222333x", "1111-2222-3333", "1111222233334"} {
		if CheckAccount(account) == nil {
			t.Errorf("--account %s is taken", account)
		}
	}
}
