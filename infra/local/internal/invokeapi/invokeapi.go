// Package invokeapi answers Lambda's Invoke API for functions on this machine and passes every
// other AWS request on to the emulator, so that one endpoint URL serves AWS's own clients.
//
// It promises invocations with Lambda's error documents and headers, synchronous ones, dry runs, and events, which
// are never tried again. It accepts any credentials, refuses requests from web pages, and sends no tail of the log,
// which is in the function's file.
package invokeapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

// API serves the functions by their deployed names, and by their aliases.
type API struct {
	Functions map[string]*function.Function
	Aliases   map[string][]string // of functions, by their deployed names
	// Lifetime bounds invocations: Lambda does not stop one when its client leaves.
	Lifetime context.Context
	// Go runs an asynchronous invocation.
	Go func(func())
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
	mux.Handle("/", proxy)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) || fromPage(r.Header) {
			refuse(w, http.StatusForbidden, "AccessDeniedException", "the local stack answers programs of this machine only")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// local reports whether a request names this machine as its host. A web page can give its own name the address of
// loopback, but its requests still carry that name.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}

// fromPage reports whether a browser sends the request for a page: it says so, the one or the other way.
func fromPage(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return h.Get("Origin") != "" || site != "" && site != "none"
}

// find is the function that a request names, and its alias, which stands behind the name or in the query.
func (a *API) find(r *http.Request) (f *function.Function, alias string, ok bool) {
	name, alias, _ := strings.Cut(r.PathValue("name"), ":")
	if alias == "" {
		alias = r.URL.Query().Get("Qualifier")
	}
	f, ok = a.Functions[name]
	return f, alias, ok && (alias == "" || slices.Contains(a.Aliases[name], alias))
}

func (a *API) invoke(w http.ResponseWriter, r *http.Request) {
	f, alias, ok := a.find(r)
	if !ok {
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+r.PathValue("name"))
		return
	}
	kind := r.Header.Get("X-Amz-Invocation-Type")
	if !slices.Contains([]string{"", "RequestResponse", "Event", "DryRun"}, kind) {
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException", "there is no invocation type "+kind)
		return
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, function.MaxPayload))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException",
			"Request must be smaller than 6291456 bytes for the InvokeFunction operation")
	case err != nil:
		return // the client left
	case len(payload) > 0 && !json.Valid(payload):
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
	default:
		if len(payload) == 0 {
			payload = []byte("{}")
		}
		switch kind {
		case "DryRun": // any caller may invoke everything here
			w.WriteHeader(http.StatusNoContent)
		case "Event":
			a.Go(func() { _, _ = f.InvokeBy(a.Lifetime, alias, payload) }) // its log tells how it went
			w.WriteHeader(http.StatusAccepted)
		default:
			result, err := f.InvokeBy(a.Lifetime, alias, payload)
			answer(w, result, err)
		}
	}
}

func answer(w http.ResponseWriter, result function.Result, err error) {
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
	_, _ = w.Write(result.Payload) // the client may have left
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	fields := map[string]string{"Type": "User", "message": message, "Message": message}
	document, _ := json.Marshal(fields) // strings always encode
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", kind)
	w.WriteHeader(status)
	_, _ = w.Write(document) // the client may have left
}
