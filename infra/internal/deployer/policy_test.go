package deployer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrite_leavesOutWhatNoPropertyNeeds(t *testing.T) {
	got := write(map[string][]string{
		"AWS::A::A": {"dynamodb:CreateTable", "dynamodb:GetItem", "iam:CreateRole", "iam:PassRole", "iam:PutUserPolicy"},
		"AWS::B::B": {"dynamodb:CreateTable", "kms:GenerateDataKeyWithoutPlaintext", "iam:ListRoles"},
	})
	want := []statement{
		{"Dynamodb", "Allow", []string{"dynamodb:CreateTable"}, []string{"*"}, nil},
		{"Iam", "Allow", []string{"iam:CreateRole"}, byName["iam"], nil},
		{"List", "Allow", []string{"iam:ListRoles"}, []string{"*"}, nil},
	}
	if diff := cmp.Diff(want, got.Statement[len(apart()):]); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// An identity that may pass any role, or change any, may do everything.
func TestApart_boundsRoles(t *testing.T) {
	for _, s := range write(map[string][]string{"AWS::A::A": {"iam:PutRolePolicy", "iam:PassRole"}}).Statement {
		for _, action := range s.Action {
			bound := len(s.Resource) > 0 && s.Resource[0] != "*"
			if (action == "iam:PassRole" || action == "iam:PutRolePolicy") && !bound {
				t.Errorf("%s allows %s of %v", s.Sid, action, s.Resource)
			}
			if action == "iam:PassRole" && s.Condition == nil {
				t.Errorf("%s passes roles to any service", s.Sid)
			}
		}
	}
}
