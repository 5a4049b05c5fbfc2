// Package invokeapi answers Lambda's Invoke API for functions on this machine and passes every
// other AWS request on to the emulator, so that one endpoint URL serves AWS's own clients.
//
// It promises Invoke's three types, its error documents and headers and the tail of the log. It
// accepts any credentials and leaves asynchronous invocations to package async. It refuses change sets, with
// which sam deploy begins, and says what to do instead.
package invokeapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

const (
	maxEvent = 1 << 20 // bytes of an asynchronous invocation
	tail     = 4 << 10 // bytes of log that LogType=Tail answers
)

// API serves the functions by their deployed names.
type API struct {
	Functions map[string]*function.Function
	// Async takes the events of the same functions.
	Async map[string]*async.Invoker
	// Lifetime bounds invocations: Lambda does not stop one when its client leaves.
	Lifetime context.Context
	// Emulator answers everything but Invoke.
	Emulator *url.URL
}

// Handler returns the API.
func (a *API) Handler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(a.Emulator)
			r.Out.Host = r.In.Host // the emulator makes queue URLs of it
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the local stack's AWS emulator does not answer")
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", a.invoke)
	mux.Handle("/", withoutChangeSets(proxy))
	return mux
}

func (a *API) invoke(w http.ResponseWriter, r *http.Request) {
	f, ok := a.Functions[name(r.PathValue("name"))]
	if !ok {
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+r.PathValue("name"))
		return
	}
	kind, limit := r.Header.Get("X-Amz-Invocation-Type"), int64(function.MaxPayload)
	if kind == "Event" {
		limit = maxEvent
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException",
			"Request must be smaller than 6291456 bytes for the InvokeFunction operation")
		return
	case err != nil:
		return // the client left
	case len(payload) == 0:
		payload = []byte("{}")
	case !json.Valid(payload):
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
		return
	}
	switch kind {
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
	case "Event":
		a.Async[f.Name].Send(a.Lifetime, payload)
		w.WriteHeader(http.StatusAccepted)
	case "", "RequestResponse":
		a.answer(w, f, payload, r.Header.Get("X-Amz-Log-Type") == "Tail")
	default:
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException", "unknown invocation type "+kind)
	}
}

func (a *API) answer(w http.ResponseWriter, f *function.Function, payload []byte, wantLog bool) {
	start := f.LogSize()
	result, err := f.Invoke(a.Lifetime, payload)
	switch {
	case errors.Is(err, function.ErrThrottled):
		refuse(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
		return
	case err != nil:
		refuse(w, http.StatusInternalServerError, "ServiceException", "the local stack is ending")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Amz-Executed-Version", "$LATEST")
	h.Set("X-Amzn-Requestid", result.RequestID)
	if result.Error != "" {
		h.Set("X-Amz-Function-Error", result.Error)
	}
	if wantLog {
		time.Sleep(5 * time.Millisecond) // a process writes its last line about when it answers
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(f.LogSince(start, tail)))
	}
	_, _ = w.Write(result.Payload) // the client may have left
}

// name takes the function's name out of a name, a partial or a whole ARN, and drops a qualifier.
func name(given string) string {
	parts := strings.Split(given, ":")
	for i, part := range parts {
		if part == "function" && i+1 < len(parts) {
			return parts[i+1]
		}
	}
	return parts[0]
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	fields := map[string]string{"Type": "User", "message": message, "Message": message}
	document, _ := json.Marshal(fields) // strings always encode
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", kind)
	w.WriteHeader(status)
	_, _ = w.Write(document) // the client may have left
}
