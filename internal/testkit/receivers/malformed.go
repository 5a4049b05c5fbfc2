package receivers

// Fault is something wrong with the form of a header section that ends.
type Fault struct {
	Name  string
	Lines string // of the section, ends of lines included
}

// Malformed are faults as servers, frameworks and proxies make them. A parser may refuse any of them, or take it for
// something else than its sender. None makes the status unreadable.
var Malformed = []Fault{
	{"a line without a colon", "this is no header\r\n"},
	{"a second status line", "HTTP/1.1 200 OK\r\n"},
	{"an empty name", ": value\r\n"},
	{"a name with a space", "X Name: value\r\n"},
	{"a space before the colon", "Content-Length : 2\r\n"},
	{"a name that is not ASCII", "X-N\u00e4me: value\r\n"},
	{"a name of Latin-1", "X-N\xe4me: value\r\n"},
	{"a name in brackets", "X(Name): value\r\n"},
	{"a folded line", "X-Name: value\r\n folded\r\n"},
	{"a folded Content-Length", "Content-Length:\r\n 2\r\n"},
	{"a line that is blank but for a space", "X-Name: value\r\n \r\n"},
	{"a carriage return within a value", "X-Name: a\rX-Other: b\r\n"},
	{"two carriage returns at its end", "X-Name: a\r\r\n"},
	{"a NUL in a value", "X-Name: a\x00b\r\n"},
	{"another control character in a value", "X-Name: \x1b[0m\r\n"},
	{"bare line feeds", "X-Name: a\nX-Other: b\n"},

	{"an empty Content-Length", "Content-Length:\r\n"},
	{"a Content-Length of words", "Content-Length: two\r\n"},
	{"a negative Content-Length", "Content-Length: -1\r\n"},
	{"a Content-Length with a sign", "Content-Length: +2\r\n"},
	{"a Content-Length with a fraction", "Content-Length: 2.0\r\n"},
	{"a hexadecimal Content-Length", "Content-Length: 0x2\r\n"},
	{"a Content-Length beyond 64 bits", "Content-Length: 99999999999999999999\r\n"},
	{"a list of Content-Lengths", "Content-Length: 2, 2\r\n"},
	{"two Content-Lengths that agree", "Content-Length: 2\r\nContent-Length: 2\r\n"},
	{"two Content-Lengths that do not", "Content-Length: 2\r\ncontent-length: 0\r\n"},
	{"Trailer: Content-Length", "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n"},
	{"Trailer: Transfer-Encoding", "Transfer-Encoding: chunked\r\nTrailer: Transfer-Encoding\r\n"},

	{"an empty Transfer-Encoding", "Transfer-Encoding:\r\n"},
	{"Transfer-Encoding: identity", "Transfer-Encoding: identity\r\n"},
	{"Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n"},
	{"two Transfer-Encodings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"},
	{"a Transfer-Encoding in quotes", "Transfer-Encoding: \"chunked\"\r\n"},
	{"a Transfer-Encoding after a vertical tab", "Transfer-Encoding: \vchunked\r\n"},
	{"a space before the colon of a Transfer-Encoding", "Transfer-Encoding : chunked\r\nContent-Length: 2\r\n"},
	{"a Transfer-Encoding and a Content-Length", "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n"},
}

// malformed are the faults, each in an answer with another answer behind it, and each in a 1xx before such an answer.
func malformed() (all []trick) {
	for _, f := range Malformed {
		all = append(all,
			trick{
				"answers with " + f.Name, Outcome{Status: 200, RetryAfter: "7"},
				says("HTTP/1.1 200 OK\r\n" + f.Lines + "Retry-After: 7\r\n\r\n" + stale),
			},
			trick{
				"answers after a 1xx with " + f.Name, Outcome{Status: 500, Reason: "http_5xx"},
				says("HTTP/1.1 103 Early Hints\r\n" + f.Lines + "\r\n" +
					"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n" + stale),
			})
	}
	return all
}
