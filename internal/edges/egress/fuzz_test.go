package egress

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// said is a receiver's side of an exchange as it comes out of TLS: in pieces, and then the end.
type said struct {
	pieces [][]byte
	taken  int
}

func (s *said) Read(p []byte) (int, error) {
	for len(s.pieces) > 0 && len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	s.pieces[0] = s.pieces[0][n:]
	s.taken += n
	return n, nil
}

// FuzzExchange reads any bytes, in two pieces, as an answer. net/http reads the same bytes. A connection may be kept
// only if the answer ended exactly where net/http sees its end, and if the answer does not contradict itself.
func FuzzExchange(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\ncontent-length : 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 5\n\n0\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
		"HTtP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 103\tEarly Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 \t103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n" + strings.Repeat("b", 65537),
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("b", 70000),
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
	} {
		f.Add([]byte(seed), uint16(0))
		f.Add([]byte(seed), uint16(30))
	}
	for _, fault := range receivers.Malformed {
		f.Add([]byte("HTTP/1.1 200 OK\r\nRetry-After: 7\r\n"+fault.Lines+"\r\nok"), uint16(40))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		cut := min(int(at), len(data))
		source := &said{pieces: [][]byte{bytes.Clone(data[:cut]), bytes.Clone(data[cut:])}}
		c := &conn{wire: &wire{Conn: &socket{}}, said: io.LimitedReader{R: source, N: maxHeader}}
		c.in = bufio.NewReader(&c.said)
		h, err := c.answer()
		if source.taken > maxHeader {
			t.Fatalf("%d bytes of heads read", source.taken)
		}
		checkRead(t, data, h, err)
		if err != nil {
			return
		}
		kept := h.sound && c.finish(h, time.Time{})
		if source.taken > maxHeader+maxBody {
			t.Fatalf("%d bytes read", source.taken)
		}
		if kept {
			checkKept(t, data[:source.taken])
		}
	})
}

// statusText is a status as HTTP has it: net/http takes signs, too.
var statusText = regexp.MustCompile(`^[0-9]{3}( |$)`)

// checkRead compares the head with the bytes that came, and with the result of net/http where that can read them.
func checkRead(t *testing.T, data []byte, h head, err error) {
	t.Helper()
	ended := bytes.HasSuffix(h.text, []byte("\n\n")) || bytes.HasSuffix(h.text, []byte("\n\r\n"))
	switch {
	case !bytes.Contains(data, h.text):
		t.Fatalf("read %q of %q", h.text, data)
	case h.status < 0 || h.status > 999 || strings.Contains(h.retryAfter, "\n"):
		t.Fatalf("status %d, Retry-After %q", h.status, h.retryAfter)
	case err == nil && (!h.final() || !ended) || err != nil && (ended || h.sound):
		t.Fatalf("%q: status %d, sound %v, %v", h.text, h.status, h.sound, err)
	}
	in := bufio.NewReader(io.LimitReader(bytes.NewReader(data), maxHeader))
	res, failure := http.ReadResponse(in, posted)
	for failure == nil && res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols {
		res, failure = http.ReadResponse(in, posted)
	}
	if failure != nil || !statusText.MatchString(res.Status) || res.StatusCode == 0 {
		return
	}
	if err != nil || h.status != res.StatusCode || h.sound && h.retryAfter != res.Header.Get("Retry-After") {
		t.Fatalf("%d, %q, %v where net/http has %d, %q", h.status, h.retryAfter, err, res.StatusCode, res.Header)
	}
}

// checkKept reads the answer once more, by net/http alone.
func checkKept(t *testing.T, taken []byte) {
	t.Helper()
	all := bytes.NewReader(taken)
	in := bufio.NewReader(all)
	res, head := parseAgain(t, in, all, taken)
	for res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols {
		res, head = parseAgain(t, in, all, taken)
	}
	if res.Proto != "HTTP/1.1" || res.Close || res.StatusCode < 200 {
		t.Fatalf("kept after %s %d, close %v", res.Proto, res.StatusCode, res.Close)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatalf("kept after a body that ends with %v", err)
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		t.Fatalf("kept with %q behind the answer", rest)
	}
	if lines := slices.Concat(head["Content-Length"], head["Transfer-Encoding"]); len(lines) > 1 {
		t.Fatalf("kept with more than one word about its end: %q", lines)
	}
}

// parseAgain reads one head, and the same as plain lines.
func parseAgain(
	t *testing.T, in *bufio.Reader, all *bytes.Reader, taken []byte,
) (*http.Response, textproto.MIMEHeader) {
	t.Helper()
	begin := len(taken) - all.Len() - in.Buffered()
	res, err := http.ReadResponse(in, posted)
	if err != nil {
		t.Fatalf("kept after %v", err)
	}
	lines := textproto.NewReader(bufio.NewReader(bytes.NewReader(taken[begin:])))
	if _, err := lines.ReadLine(); err != nil {
		t.Fatal(err)
	}
	head, err := lines.ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	return res, head
}

// FuzzWire takes any bytes, in pieces, for records of TLS. They come out as they went in, and no read
// reaches beyond the end of a record.
func FuzzWire(f *testing.F) {
	f.Add([]byte{23, 3, 3, 0, 2, 'o', 'k', 23, 3, 3, 0, 0}, uint8(3))
	f.Add([]byte{23, 3, 3, 0, 2, 'o'}, uint8(1))
	f.Add([]byte{23, 3, 3, 1}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		source := &said{}
		for pieces := range slices.Chunk(bytes.Clone(data), int(size)+1) {
			source.pieces = append(source.pieces, pieces)
		}
		w := &wire{in: bufio.NewReader(source), left: maxWire}
		var got []byte
		end := 0 // of the current record
		for p := make([]byte, 600); ; {
			n, err := w.Read(p)
			if err != nil {
				break
			}
			if len(got) == end {
				end += recordHead + int(data[end+3])<<8 + int(data[end+4])
			}
			got = append(got, p[:n]...)
			if missing := end - len(got); missing < 0 || w.rest != missing {
				t.Fatalf("read to %d, where a record ends at %d, and %d bytes are said to be missing", len(got), end, w.rest)
			}
		}
		if !bytes.HasPrefix(data, got) || w.left > 0 && len(data)-len(got) >= recordHead {
			t.Fatalf("got %q of %q", got, data)
		}
	})
}
