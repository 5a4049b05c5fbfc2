package invokeapi

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// noChangeSets is what a deployment of one's own is told: the emulator's CloudFormation neither expands
// AWS::Serverless nor describes a stack with a resource that it cannot make.
const noChangeSets = "the local stack does not take deployments: it deploys template.yaml itself when it starts, " +
	`so restart it (infra/docs/local-stack.md, "Not as on AWS")`

const maxForm = 1 << 20 // bytes: CloudFormation takes templates of 1 MB, and those by URL

// withoutChangeSets refuses CreateChangeSet, with which sam deploy begins, and passes everything else on.
func withoutChangeSets(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "/cloudformation/") {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
		if err != nil {
			refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLarge", "the request is too large or broke off")
			return
		}
		if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") == "CreateChangeSet" {
			refuseChangeSet(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func refuseChangeSet(w http.ResponseWriter) {
	type fault struct{ Type, Code, Message string }
	document, _ := xml.Marshal(struct { // strings always encode
		XMLName xml.Name `xml:"http://cloudformation.amazonaws.com/doc/2010-05-15/ ErrorResponse"`
		Error   fault
	}{Error: fault{Type: "Sender", Code: "ValidationError", Message: noChangeSets}})
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(document) // the client may have left
}
