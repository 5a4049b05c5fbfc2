package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// profile is an AWS configuration file that makes every AWS client use the stack, regardless of this machine's own
// configuration.
//
// The region does not exist at AWS, for two reasons. The first version of the AWS CLI takes SQS's endpoint from a
// built-in list for most real regions, and ignores endpoint_url. And a request that leaves this machine by mistake
// arrives nowhere.
const profile = `# Written by the local stack; gone when it ends.
[profile %s]
region = %s
endpoint_url = %s
aws_access_key_id = local
aws_secret_access_key = local
cli_binary_format = raw-in-base64-out
cli_pager =
`

// writeProfile writes the configuration file into the folder of the state file.
func (s *Stack) writeProfile(context.Context) error {
	s.AWSConfigFile = filepath.Join(s.options.Dir, "aws", "config")
	if err := os.MkdirAll(filepath.Dir(s.AWSConfigFile), 0o750); err != nil {
		return fmt.Errorf("making the AWS profile's folder: %w", err)
	}
	s.onClose(func() { _ = os.Remove(s.AWSConfigFile) })
	text := fmt.Sprintf(profile, statefile.Profile, s.Region, s.AWSEndpointURL)
	if err := os.WriteFile(s.AWSConfigFile, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the AWS profile: %w", err)
	}
	return nil
}
