package invokeapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/invokeapi"
)

// A request names an alias behind the function's name, as AWS's clients do, or in the query. A function with an alias
// that does not exist is answered as a function that does not exist.
func TestAPI_Handler_knowsFunctionsByTheirAliases(t *testing.T) {
	handler := (&invokeapi.API{
		Emulator: &url.URL{}, Functions: map[string]*function.Function{"replay": {}, "inspect": {}},
		Aliases: map[string][]string{"replay": {"delete"}},
	}).Handler()
	for path, want := range map[string]int{
		"replay": http.StatusNoContent, "replay:delete": http.StatusNoContent, "replay%3Adelete": http.StatusNoContent,
		"replay?Qualifier=delete": http.StatusNoContent, "inspect": http.StatusNoContent,
		"replay:purge": http.StatusNotFound, "replay?Qualifier=live": http.StatusNotFound,
		"inspect:delete": http.StatusNotFound, "none": http.StatusNotFound, "none:delete": http.StatusNotFound,
		"replay:delete:delete": http.StatusNotFound,
	} {
		name, query, _ := strings.Cut(path, "?")
		r := httptest.NewRequest(http.MethodPost, "/2015-03-31/functions/"+name+"/invocations?"+query, nil)
		r.Host = "127.0.0.1:4566"
		r.Header.Set("X-Amz-Invocation-Type", "DryRun")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
