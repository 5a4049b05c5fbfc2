package egress

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// finish reads what is left of the answer, within bounds, and reports whether the connection
// may serve another exchange: the answer ended where it said it would and nothing follows. What
// comes later is found before the connection is used again. Nothing here can change the outcome.
func (c *conn) finish(res *http.Response, deadline time.Time) bool {
	if !endsByItself(res) {
		return false
	}
	c.stream.limit(maxBody, errTooMuch, deadline)
	var err error
	if len(res.TransferEncoding) > 0 {
		_, err = io.Copy(io.Discard, res.Body)
	} else {
		_, err = c.in.Discard(int(res.ContentLength))
	}
	return err == nil && c.in.Buffered() == 0
}

// endsByItself reports whether the answer has an end other than the connection's, within what is
// read of a body.
func endsByItself(res *http.Response) bool {
	if res.Close || res.ProtoMajor != 1 || res.ProtoMinor != 1 || res.StatusCode < 200 {
		return false
	}
	if res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified {
		// These have no body. One that announces a body all the same may well send it.
		length := res.Header.Get("Content-Length")
		return len(res.TransferEncoding) == 0 && (length == "" || length == "0")
	}
	return res.ContentLength <= maxBody
}

// declaresLength reports whether a response head, parsed without a fault, has a Content-Length.
func declaresLength(head []byte) bool {
	return bytes.Contains(bytes.ToLower(head), []byte("\ncontent-length:"))
}
