package function

import (
	"slices"
	"testing"
)

// Lambda's reserved variables win over the function's own, and the host's over all. Nothing is this program's own.
func TestFunction_environment(t *testing.T) {
	t.Setenv("OURS", "1")
	own := map[string]string{
		"STAGE": "local", "TZ": "Europe/Berlin", "AWS_REGION": "eu-west-1", "SSL_CERT_FILE": "own.pem",
	}
	f := Function{Config: Config{
		Name: "work", Region: "us-east-1", Handler: "bootstrap", MemoryMB: 256, Binary: "/var/task/bootstrap",
		Variables: own, Host: map[string]string{"SSL_CERT_FILE": "ca.pem"}, LogFormat: "JSON", LogLevel: "DEBUG",
	}}
	wants := []string{
		"STAGE=local", "TZ=Europe/Berlin", "AWS_REGION=us-east-1", "SSL_CERT_FILE=ca.pem", "AWS_LAMBDA_LOG_FORMAT=JSON",
		"AWS_LAMBDA_LOG_LEVEL=DEBUG", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "LAMBDA_TASK_ROOT=/var/task",
	}
	configured := f.environment("127.0.0.1:9001")
	for _, want := range wants {
		if !slices.Contains(configured, want) {
			t.Errorf("no %s in %v", want, configured)
		}
	}
	bare := (&Function{}).environment("")
	if !slices.Contains(bare, "TZ=:UTC") || slices.Contains(bare, "OURS=1") || len(configured) != len(bare)+4 {
		t.Errorf("%d variables of %v, %d of %v", len(configured), configured, len(bare), bare)
	}
}
