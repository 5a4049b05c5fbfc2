package receivers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"time"
)

// drip is the pause between two bytes of a slow receiver: far below any limit of the client's.
const drip = 20 * time.Millisecond

// heads misbehave before the status and headers are complete.
var heads = []Case{
	one("resets the connection during the headers", none("protocol"), Promptly,
		answering(says("HTTP/1.1 200 OK\r\nContent-Type: text/pl", (*conn).reset))),
	one("sends its headers a byte at a time, for ever", none("timeout"), ByDeadline, answering(func(c *conn) {
		c.trickle("HTTP/1.1 200 OK\r\nX-Slow: ")
	})),
	one("sends headers without end", none("response_header_too_large"), Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\n")
		c.flood([]byte("X-Bomb: " + strings.Repeat("b", 4096) + "\r\n"))
	})),
	one("sends one header line without end", none("response_header_too_large"), Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\nX-Bomb: ")
		c.flood(bytes.Repeat([]byte("b"), 16384))
	})),
	one("sends a status line without end", none("response_header_too_large"), Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 ")
		c.flood(bytes.Repeat([]byte("O"), 16384))
	})),
	one("floods with 1xx responses", none("response_header_too_large"), Promptly, answering(func(c *conn) {
		c.flood([]byte("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"))
	})),
	one("sends a 1xx and then a 200", Outcome{Status: 200}, Promptly,
		answering(says("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", (*conn).hold))),
	one("switches protocols", Outcome{Status: 101, Reason: "http_1xx"}, ByDrain,
		answering(says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", (*conn).hold))),
}

// bodies misbehave after the status is there: it alone decides.
var bodies = []Case{
	one("resets the connection during the body", Outcome{Status: 200}, Promptly,
		answering(says("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun", (*conn).reset))),
	one("answers 200 and resets at once", Outcome{Status: 200}, Promptly,
		answering(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", (*conn).reset))),
	one("answers 500 and resets during the body", Outcome{Status: 500, Reason: "http_5xx"}, Promptly,
		answering(says("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\nbegun", (*conn).reset))),
	one("sends its body a byte at a time, for ever", Outcome{Status: 200}, ByDrain, answering(func(c *conn) {
		c.trickle("HTTP/1.1 200 OK\r\n\r\n")
	})),
	one("stalls in the body", Outcome{Status: 200}, ByDrain,
		answering(says("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun", (*conn).hold))),
	one("sends a body without end", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\n\r\n")
		c.flood(make([]byte, 16384))
	})),
	one("sends a chunked body without end", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		c.flood([]byte("1000\r\n" + strings.Repeat("c", 4096) + "\r\n"))
	})),
	one("sends a chunk extension without end", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=")
		c.flood(bytes.Repeat([]byte("x"), 16384))
	})),
	one("sends trailers without end", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Bomb\r\n\r\n0\r\n")
		c.flood([]byte("X-Bomb: " + strings.Repeat("b", 4096) + "\r\n"))
	})),
	one("sends a body of 100 MB", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		const size = 100 << 20
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		for chunk, sent := make([]byte, 16384), 0; sent < size; sent += len(chunk) {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	})),
	one("sends a gzip bomb", Outcome{Status: 200}, Promptly, func(t Scope, ca *CA) Target {
		bomb := gzipBomb(t)
		return serveRaw(t, ca, nil, func(c *conn) {
			if c.readRequest() == nil {
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", len(bomb))
				_, _ = c.Write(bomb)
				c.hold()
			}
		})
	}),
	one("sends a body with a 204", Outcome{Status: 204}, Promptly,
		answering(says("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", (*conn).hold))),
}

// trickle writes head and then a byte at a time until the client goes away.
func (c *conn) trickle(head string) {
	_, err := c.Write([]byte(head))
	for err == nil {
		select {
		case <-c.ended:
			return
		case <-time.After(drip):
			_, err = c.Write([]byte("s"))
		}
	}
}

// gzipBomb is 61 KiB that inflate to 60 MiB: small enough to be read whole by a client that reads 64 KiB.
func gzipBomb(t Scope) []byte {
	t.Helper()
	var packed bytes.Buffer
	const level = 5 // the best one makes it no smaller, and takes ten times as long
	w, err := gzip.NewWriterLevel(&packed, level)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	block := make([]byte, 1<<20)
	for range 60 {
		if _, err := w.Write(block); err != nil {
			t.Fatalf("receivers: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return packed.Bytes()
}
