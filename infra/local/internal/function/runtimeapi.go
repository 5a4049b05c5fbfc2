package function

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const version = "/2018-06-01/runtime"

// routes is the Runtime API of one process.
func (in *instance) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+version+"/invocation/next", in.next)
	mux.HandleFunc("POST "+version+"/invocation/{id}/response", in.response)
	mux.HandleFunc("POST "+version+"/invocation/{id}/error", in.invocationError)
	mux.HandleFunc("POST "+version+"/init/error", in.initError)
	return mux
}

// next blocks until there is an invocation for the process.
func (in *instance) next(w http.ResponseWriter, r *http.Request) {
	in.once.Do(func() { close(in.polled) })
	var inv *invocation
	select {
	case inv = <-in.invocations:
	case <-r.Context().Done():
		return
	}
	in.mu.Lock()
	in.current = inv
	in.mu.Unlock()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(in.fn.Timeout).UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", in.fn.ARN)
	h.Set("Lambda-Runtime-Trace-Id", inv.trace)
	_, _ = w.Write(inv.payload) // a process that is gone is noticed by its end
}

func (in *instance) response(w http.ResponseWriter, r *http.Request) {
	inv := in.takeCurrent(w, r)
	if inv == nil {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxPayload))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		inv.answer(inv.failure("Function.ResponseSizeTooLarge",
			"Error: Response payload size exceeded maximum allowed payload size (6291456 bytes)."))
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge")
	case err != nil:
		inv.answer(inv.failure("Runtime.TruncatedResponse", "Error: the response broke off"))
	default:
		inv.answer(Result{Payload: body})
		w.WriteHeader(http.StatusAccepted)
	}
}

func (in *instance) invocationError(w http.ResponseWriter, r *http.Request) {
	inv := in.takeCurrent(w, r)
	if inv == nil {
		return
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, MaxPayload)) // what arrived is what there is to tell
	inv.answer(Result{Payload: body, Error: unhandled})
	w.WriteHeader(http.StatusAccepted)
}

func (in *instance) initError(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10)) // for the log only
	in.fn.Log.Error("initialisation failed", "function", in.fn.Name, "error", string(body))
	w.WriteHeader(http.StatusAccepted)
	in.failing.Do(func() { close(in.failed) })
}

// takeCurrent returns the invocation that the request names; any other than the current one is refused.
func (in *instance) takeCurrent(w http.ResponseWriter, r *http.Request) *invocation {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current == nil || in.current.id != r.PathValue("id") {
		refuse(w, http.StatusBadRequest, "InvalidRequestID")
		return nil
	}
	inv := in.current
	in.current = nil
	return inv
}

func refuse(w http.ResponseWriter, status int, kind string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"errorType":"`+kind+`","errorMessage":"`+kind+`"}`)
}
