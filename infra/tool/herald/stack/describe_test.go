package stack

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// The outputs are texts that the maker of the stack chose.
func TestStack_Describe_saysWhereItIsInstalled(t *testing.T) {
	s := Stack{
		Name: "herald-prod", Account: "111122223333", AWS: aws.Config{Region: "eu-central-1"},
		Parameters: map[string]string{"Stage": "prod"}, Outputs: map[string]string{"Product": "Herald 1.0.0\u001b[2J"},
	}
	const want = "herald-prod in eu-central-1, account 111122223333, stage prod: Herald 1.0.0\uFFFD[2J"
	if got := s.Describe(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Stack{Name: "herald-local", AWS: aws.Config{Region: "local"}}).Describe(); got != "herald-local in local" {
		t.Errorf("%q", got)
	}
}
