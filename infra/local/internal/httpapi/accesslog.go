package httpapi

import (
	"io"
	"net/http"
	"regexp"
	"sync"
)

// AccessLog writes a line per request in the format that the template gives its stage.
type AccessLog struct {
	Format string // with $context variables; empty for no log
	Lines  io.Writer
}

var (
	contextVariable = regexp.MustCompile(`\$context\.[A-Za-z.]+`)
	logging         sync.Mutex
)

func (l AccessLog) write(values map[string]string) {
	if l.Format == "" || l.Lines == nil {
		return
	}
	line := contextVariable.ReplaceAllStringFunc(l.Format, func(name string) string {
		value, known := values[name[len("$context."):]]
		if !known || value == "" {
			return "-"
		}
		return value // as it is: API Gateway escapes nothing either
	})
	logging.Lock()
	defer logging.Unlock()
	_, _ = io.WriteString(l.Lines, line+"\n") // a lost log line must not fail a request
}

// counter counts the bytes of a response's body.
type counter struct {
	http.ResponseWriter
	bytes int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += n
	return n, err //nolint:wrapcheck // a pass-through
}
