package receivers

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"net"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// connections never get as far as a response head.
var connections = []Case{
	one("refuses connections", none("connect"), Promptly, func(t Scope, _ *CA) Target {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("receivers: %v", err)
		}
		_ = listener.Close()
		return Target{URL: "https://" + listener.Addr().String() + "/hook", Seen: &Seen{}}
	}),
	one("accepts and never starts TLS", none("timeout"), ByConnect,
		tcp(func(_ net.Conn, ended <-chan struct{}) { <-ended })),
	one("resets the connection during the TLS handshake", none("protocol"), Promptly,
		tcp(func(c net.Conn, _ <-chan struct{}) {
			_, _ = c.Read(make([]byte, 16))
			_ = c.(*net.TCPConn).SetLinger(0)
		})),
	one("speaks plain HTTP where TLS belongs", none("tls"), Promptly, tcp(func(c net.Conn, _ <-chan struct{}) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write([]byte(fine))
	})),
	one("closes after the handshake without an answer", none("protocol"), Promptly, answering(func(*conn) {})),
	one("takes the request and never answers", none("timeout"), ByDeadline, answering((*conn).hold)),
	one("answers with something that is not HTTP", none("protocol"), Promptly,
		answering(says("220 mail.receiver.test ESMTP\r\n\r\n"))),
}

// certificates fail verification or speak an old TLS: nothing of the delivery is sent.
var certificates = []Case{
	shows("has a certificate for another host", Leaf{Hosts: []string{"elsewhere.test", "127.0.0.9"}}),
	shows("has an expired certificate",
		Leaf{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}),
	shows("has a certificate that is not valid yet", Leaf{NotBefore: time.Now().Add(time.Hour)}),
	unsent(one("has a self-signed certificate", none("tls"), Promptly, certified(func(t Scope, _ *CA) *tls.Config {
		cert, err := pki.SelfSigned(Leaf{})
		if err != nil {
			t.Fatalf("receivers: %v", err)
		}
		return &tls.Config{Certificates: []tls.Certificate{cert}}
	}))),
	unsent(one("has a certificate of an unknown authority", none("tls"), Promptly,
		certified(func(t Scope, _ *CA) *tls.Config {
			return &tls.Config{Certificates: []tls.Certificate{NewCA(t).Issue(t, Leaf{})}}
		}))),
	unsent(one("speaks TLS 1.1 at most", none("tls_handshake"), Promptly, certified(func(t Scope, ca *CA) *tls.Config {
		return &tls.Config{
			Certificates: []tls.Certificate{ca.Issue(t, Leaf{})},
			MinVersion:   tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
		}
	}))),
	suites("has cipher suites with an exchange of RSA keys only", tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA),
	suites("has cipher suites of CBC with SHA-256 only", tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256),
	suites("has cipher suites of 3DES and RC4 only", tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA,
		tls.TLS_ECDHE_RSA_WITH_RC4_128_SHA),
	one("chooses a cipher suite that was not offered", none("tls_handshake"), Promptly, tcp(chooses(0x009c))),
	one("chooses TLS 1.0", none("tls_handshake"), Promptly, tcp(func(c net.Conn, _ <-chan struct{}) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write(serverHello(tls.VersionTLS10, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA))
	})),
	one("says that its security is insufficient", none("tls_handshake"), Promptly, tcp(alerts(71))),
	one("knows no such name", none("tls"), Promptly, tcp(alerts(112))),
	one("says that it is broken inside", none("tls"), Promptly, tcp(alerts(80))),
	one("sends 40 KiB of certificates", none("tls"), Promptly, certified(padded(40<<10))),
	one("wants a client certificate", none("tls_handshake"), Promptly, func(t Scope, ca *CA) Target {
		config := &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
		return serveRaw(t, ca, config, (*conn).hold)
	}),
}

// shows is a case of a certificate of the trusted authority that must not be accepted.
func shows(name string, leaf Leaf) Case {
	return unsent(one(name, none("tls"), Promptly, certified(func(t Scope, ca *CA) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, leaf)}}
	})))
}

// unsent says of a case that a safe client sends nothing of its request.
func unsent(c Case) Case {
	c.Unsent = true
	return c
}

// suites is a case of a server of TLS 1.2 without any cipher suite that the client offers.
func suites(name string, ids ...uint16) Case {
	return one(name, none("tls_handshake"), Promptly, certified(func(t Scope, ca *CA) *tls.Config {
		cert := ca.Issue(t, Leaf{})
		return &tls.Config{
			MaxVersion: tls.VersionTLS12, CipherSuites: ids, Certificates: []tls.Certificate{cert, selfSignedRSA(t)},
		}
	}))
}

// selfSignedRSA is a certificate for the suites that need one. No client gets to see it.
func selfSignedRSA(t Scope) tls.Certificate {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{Host}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// alerts ends the handshake with an alert of TLS (RFC 8446, 6).
func alerts(kind byte) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, _ <-chan struct{}) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, kind})
	}
}

// chooses answers the ClientHello with a cipher suite of TLS 1.2.
func chooses(suite uint16) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, _ <-chan struct{}) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write(serverHello(tls.VersionTLS12, suite))
	}
}

// serverHello is a record with the message (RFC 5246, 7.4.1.3), without session and extensions.
func serverHello(version, suite uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, version)
	body = append(body, make([]byte, 32+1)...)
	body = append(binary.BigEndian.AppendUint16(body, suite), 0)
	message := append([]byte{2, 0, 0, byte(len(body))}, body...)
	return append([]byte{22, 3, 3, 0, byte(len(message))}, message...)
}

// tcp is the start of a case below TLS.
func tcp(handle func(c net.Conn, ended <-chan struct{})) func(t Scope, ca *CA) Target {
	return func(t Scope, _ *CA) Target {
		t.Helper()
		seen := &Seen{}
		return Target{URL: "https://" + serveTCP(t, "127.0.0.1:0", seen, handle) + "/hook", Seen: seen}
	}
}

// padded is a valid certificate with another behind it that serves no purpose.
func padded(bytes int) func(t Scope, ca *CA) *tls.Config {
	return func(t Scope, ca *CA) *tls.Config {
		t.Helper()
		cert := ca.Issue(t, Leaf{})
		cert.Certificate = append(cert.Certificate, Padding(t, bytes))
		return &tls.Config{Certificates: []tls.Certificate{cert}}
	}
}

// late is a server of TLS 1.3 that answers 200 and sends the end of its first flight a while after the rest.
func late(t Scope, ca *CA) Target {
	t.Helper()
	torn := func(c net.Conn) *cork { return &cork{Conn: c, on: true, handshake: true, late: 40} }
	return serveOn(t, ca, &tls.Config{MinVersion: tls.VersionTLS13}, torn, func(c *conn) {
		c.out.uncork()
		if c.readRequest() == nil {
			c.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}
	})
}

// certified is the start of a case with a receiver that answers 200 if the handshake succeeds. Where the handshake must
// not succeed, a 200 gives the client away.
func certified(config func(t Scope, ca *CA) *tls.Config) func(t Scope, ca *CA) Target {
	return func(t Scope, ca *CA) Target {
		t.Helper()
		return serveRaw(t, ca, config(t, ca), func(c *conn) {
			if c.readRequest() == nil {
				c.say(fine)
			}
		})
	}
}
