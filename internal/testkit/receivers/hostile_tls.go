package receivers

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"net"
	"strings"
	"sync"
)

// secures misuse TLS after the handshake. crypto/tls offers no way to do that, so their records are
// sealed by hand with the keys it logs.
var secures = []Case{
	one("asks for a new handshake instead of answering", none("tls"), Promptly,
		sealing(tls.VersionTLS12, func(s *sealer) { s.write(recordHandshake, helloRequest) })),
	one("asks for new handshakes without end", none("tls"), Promptly,
		sealing(tls.VersionTLS12, func(s *sealer) {
			for s.write(recordHandshake, helloRequest) {
			}
		})),
	one("answers and asks for new handshakes without end", Outcome{Status: 200}, Promptly,
		sealing(tls.VersionTLS12, func(s *sealer) {
			for s.write(recordData, []byte(fine)); s.write(recordHandshake, helloRequest); {
			}
		})),
	one("changes its keys once and answers", Outcome{Status: 200}, Promptly,
		sealing(tls.VersionTLS13, func(s *sealer) {
			s.update()
			s.write(recordData, []byte(fine))
		})),
	{
		Name: "changes its keys without end",
		Want: []Outcome{none("tls")}, Ends: Promptly, Bytes: 8 * memory, // the receiver's keys are most of it
		Start: sealing(tls.VersionTLS13, func(s *sealer) {
			for s.update() {
			}
		}),
	},
	{
		Name: "changes its keys ten times before each byte of its headers",
		Want: []Outcome{none("tls")}, Ends: Promptly, Bytes: 8 * memory, // likewise
		Start: sealing(tls.VersionTLS13, func(s *sealer) {
			for ok := s.write(recordData, []byte("HTTP/1.1 200 OK\r\nX-Slow: ")); ok; ok = s.write(recordData, []byte("s")) {
				for range 10 {
					ok = ok && s.update()
				}
			}
		}),
	},
	{
		Name: "answers and changes its keys without end",
		Want: []Outcome{{Status: 200}}, Ends: Promptly, Bytes: 8 * memory, // likewise
		Start: sealing(tls.VersionTLS13, func(s *sealer) {
			for s.write(recordData, []byte(fine)); s.update(); {
			}
		}),
	},
}

// Content types and messages of RFC 5246, 7.4.1.1, and RFC 8446, 4.6.3 and 5.1. The update asks the
// client to update its keys, too.
const (
	recordHandshake byte = 22
	recordData      byte = 23
)

var (
	helloRequest = []byte{0, 0, 0, 0}
	keyUpdate    = []byte{24, 0, 0, 1, 1}
)

// sealing is the start of a case that reads a request and then answers with records that it makes itself.
func sealing(version uint16, handle func(*sealer)) func(t Scope, ca *CA) Target {
	return func(t Scope, ca *CA) Target {
		t.Helper()
		cert := ca.Issue(t, Leaf{})
		seen := &Seen{}
		addr := serveTCP(t, "127.0.0.1:0", seen, func(tcp net.Conn, ended <-chan struct{}) {
			wire := &heard{Conn: counted{tcp, seen}}
			var log keyLog
			secure := tls.Server(wire, &tls.Config{
				Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version, KeyLogWriter: &log,
				SessionTicketsDisabled: true,
				CipherSuites:           []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			})
			in := bufio.NewReader(secure)
			c := &conn{Conn: secure, tcp: tcp.(*net.TCPConn), in: in, ended: ended, seen: seen}
			neighbourly(func(c *conn) {
				s := newSealer(t, wire, secure.ConnectionState(), &log)
				s.seq += uint64(c.answered)
				handle(s)
				c.hold()
			})(c)
		})
		return neighboured(Target{URL: "https://" + addr + "/hook", Seen: seen})
	}
}

// heard remembers the server's random value, which is at the same place in every ServerHello.
type heard struct {
	net.Conn
	first []byte
}

func (h *heard) Write(p []byte) (int, error) {
	if h.first == nil {
		h.first = bytes.Clone(p)
	}
	return h.Conn.Write(p)
}

// keyLog holds the lines of NSS's key log format: a label, the client's random value and a secret.
type keyLog struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (k *keyLog) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lines.Write(p)
}

func (k *keyLog) find(label string) (random, secret []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for line := range strings.Lines(k.lines.String()) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == label {
			random, _ = hex.DecodeString(words[1])
			secret, _ = hex.DecodeString(words[2])
		}
	}
	return random, secret
}

// sealer writes records in the server's place.
type sealer struct {
	to     net.Conn
	secret []byte // TLS 1.3: of the server's traffic, from which the next one is made
	aead   cipher.AEAD
	iv     []byte
	seq    uint64
}

func newSealer(t Scope, to *heard, state tls.ConnectionState, log *keyLog) *sealer {
	t.Helper()
	s := &sealer{to: to}
	if state.Version == tls.VersionTLS13 {
		if state.CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
			t.Errorf("receivers: cannot seal records of cipher suite %x", state.CipherSuite)
		}
		_, s.secret = log.find("SERVER_TRAFFIC_SECRET_0")
		s.rekey()
		return s
	}
	client, master := log.find("CLIENT_RANDOM")
	block := prf12(master, bytes.Join([][]byte{[]byte("key expansion"), to.first[11:43], client}, nil), 40)
	s.aead = newGCM(block[16:32])
	s.iv = block[36:40]
	s.seq = 1 // after Finished
	return s
}

// write seals a record and reports whether the client took it.
func (s *sealer) write(kind byte, payload []byte) bool {
	seq := binary.BigEndian.AppendUint64(nil, s.seq)
	s.seq++
	var record []byte
	if s.secret != nil {
		payload = append(bytes.Clone(payload), kind)
		head := binary.BigEndian.AppendUint16([]byte{recordData, 3, 3}, uint16(len(payload)+s.aead.Overhead()))
		nonce := bytes.Clone(s.iv)
		for i, b := range seq {
			nonce[4+i] ^= b
		}
		record = s.aead.Seal(head, nonce, payload, bytes.Clone(head))
	} else {
		head := binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(8+len(payload)+s.aead.Overhead()))
		data := binary.BigEndian.AppendUint16(append(bytes.Clone(seq), kind, 3, 3), uint16(len(payload)))
		record = s.aead.Seal(append(head, seq...), append(bytes.Clone(s.iv), seq...), payload, data)
	}
	_, err := s.to.Write(record)
	return err == nil
}

// update sends a KeyUpdate and changes the keys.
func (s *sealer) update() bool {
	if !s.write(recordHandshake, keyUpdate) {
		return false
	}
	s.secret = expand(s.secret, "traffic upd", sha256.Size)
	s.rekey()
	return true
}

func (s *sealer) rekey() {
	s.aead = newGCM(expand(s.secret, "key", 16))
	s.iv = expand(s.secret, "iv", 12)
	s.seq = 0
}

// expand is HKDF-Expand-Label without a context (RFC 8446, 7.1).
func expand(secret []byte, label string, length int) []byte {
	info := append([]byte{0, byte(length), byte(6 + len(label))}, "tls13 "+label+"\x00"...)
	out, err := hkdf.Expand(sha256.New, secret, string(info), length)
	if err != nil {
		panic(err) // cannot fail with these lengths
	}
	return out
}

// prf12 is P_SHA256 (RFC 5246, 5).
func prf12(secret, seed []byte, length int) []byte {
	sum := func(parts ...[]byte) []byte {
		mac := hmac.New(sha256.New, secret)
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < length; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:length]
}

func newGCM(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has 16 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}
