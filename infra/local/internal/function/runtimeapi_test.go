package function

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A function tells by the ARN how it was invoked, as on AWS: with the alias, or without.
func TestInstance_next_namesTheAlias(t *testing.T) {
	f := &Function{Config: Config{ARN: "arn:aws:lambda:eu-central-1:111122223333:function:replay"}}
	for alias, want := range map[string]string{"": f.ARN, "delete": f.ARN + ":delete"} {
		in := newInstance(f)
		go func() { in.invocations <- f.invocation(alias, []byte("{}")) }()
		w := httptest.NewRecorder()
		in.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, version+"/invocation/next", nil))
		if got := w.Header().Get("Lambda-Runtime-Invoked-Function-Arn"); got != want {
			t.Errorf("by %q: %s, want %s", alias, got, want)
		}
	}
}
