package function

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFunction_environment(t *testing.T) {
	t.Parallel()
	lambdas := func(changes ...string) []string {
		return append([]string{
			"AWS_ACCESS_KEY_ID=local", "AWS_DEFAULT_REGION=us-east-1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
			"AWS_LAMBDA_FUNCTION_NAME=work", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
			"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand", "AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/work",
			"AWS_LAMBDA_LOG_STREAM_NAME=local", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "AWS_REGION=us-east-1",
			"AWS_SECRET_ACCESS_KEY=local", "AWS_SESSION_TOKEN=local", "LAMBDA_RUNTIME_DIR=/var/task",
			"LAMBDA_TASK_ROOT=/var/task", "LANG=en_US.UTF-8", "PATH=/usr/local/bin:/usr/bin/:/bin:/opt/bin",
			"_HANDLER=bootstrap",
		}, changes...)
	}
	for name, row := range map[string]struct {
		variables, host map[string]string
		format, level   string
		want            []string
	}{
		"nothing of its own": {nil, nil, "", "", lambdas("TZ=:UTC")},
		"variables of the function, without those that Lambda reserves": {
			map[string]string{"STAGE": "local", "TZ": "Europe/Berlin", "AWS_REGION": "eu-west-1"}, nil, "", "",
			lambdas("TZ=Europe/Berlin", "STAGE=local"),
		},
		"the host's win over the function's": {
			map[string]string{"SSL_CERT_FILE": "own.pem"}, map[string]string{"SSL_CERT_FILE": "ca.pem"}, "", "",
			lambdas("TZ=:UTC", "SSL_CERT_FILE=ca.pem"),
		},
		"logging is configured": {
			nil, nil, "JSON", "DEBUG",
			lambdas("TZ=:UTC", "AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_LAMBDA_LOG_LEVEL=DEBUG"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Function{Config: Config{
				Name: "work", Region: "us-east-1", Handler: "bootstrap", MemoryMB: 256, Binary: "/var/task/bootstrap",
				Variables: row.variables, Host: row.host, LogFormat: row.format, LogLevel: row.level,
			}}
			if diff := cmp.Diff(byName(row.want), byName(f.environment("127.0.0.1:9001"))); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func byName(environment []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		values[name] += value // of a name that is there twice, both
	}
	return values
}
