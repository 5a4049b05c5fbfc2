package function

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
)

// environment is the whole environment of a process: Lambda's reserved variables win over the function's own.
func (f *Function) environment(runtimeAPI string) []string {
	all := map[string]string{
		"LANG": "en_US.UTF-8",
		"PATH": "/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		"TZ":   ":UTC",
	}
	maps.Copy(all, f.Variables)
	maps.Copy(all, map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          runtimeAPI,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      "local",
		"AWS_REGION":                      f.Region,
		"AWS_DEFAULT_REGION":              f.Region,
		"AWS_ACCESS_KEY_ID":               "local",
		"AWS_SECRET_ACCESS_KEY":           "local",
		"AWS_SESSION_TOKEN":               "local",
		"LAMBDA_TASK_ROOT":                filepath.Dir(f.Binary),
		"LAMBDA_RUNTIME_DIR":              filepath.Dir(f.Binary),
		"_HANDLER":                        f.Handler,
	})
	if f.LogFormat != "" {
		all["AWS_LAMBDA_LOG_FORMAT"] = f.LogFormat
	}
	if f.LogLevel != "" {
		all["AWS_LAMBDA_LOG_LEVEL"] = f.LogLevel
	}
	maps.Copy(all, f.Host)
	list := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
