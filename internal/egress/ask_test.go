package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wired returns a wire and the other end of its connection.
func wired(t *testing.T) (*wire, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	raw, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close(); _ = other.Close() })
	w, err := newWire(raw)
	if err != nil {
		t.Fatal(err)
	}
	return w, other.(*net.TCPConn)
}

// hold writes what is to go out with the next read.
func hold(t *testing.T, w *wire, request string) {
	t.Helper()
	w.hold = true
	if n, err := io.WriteString(w, request); n != len(request) || err != nil {
		t.Fatalf("wrote %d: %v", n, err)
	}
}

func TestWire_ask_sendsWhatIsHeldAndWaitsForTheAnswer(t *testing.T) {
	w, other := wired(t)
	for _, request := range []string{"one", strings.Repeat("2", 16<<10), "three"} {
		hold(t, w, request)
		got := make(chan string, 1)
		go func() {
			request := make([]byte, len(request))
			_, _ = io.ReadFull(other, request)
			time.Sleep(20 * time.Millisecond) // the read waits meanwhile
			_, _ = io.WriteString(other, "answer")
			got <- string(request)
		}()
		answer := make([]byte, 100)
		if n, err := w.Read(answer); string(answer[:n]) != "answer" || err != nil {
			t.Fatalf("answered %q: %v", answer[:n], err)
		}
		if got := <-got; got != request {
			t.Errorf("sent %.20q, want %.20q", got, request)
		}
	}
}

func TestWire_ask_sendsNothingWhereSomethingWasSaid(t *testing.T) {
	for name, say := range map[string]func(*net.TCPConn){
		"a word":     func(c *net.TCPConn) { _, _ = io.WriteString(c, "x") },
		"its end":    func(c *net.TCPConn) { _ = c.CloseWrite() },
		"hanging up": func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			w, other := wired(t)
			say(other)
			for !spoken(t, w) {
				time.Sleep(time.Millisecond)
			}
			hold(t, w, "request")
			if n, err := w.Read(make([]byte, 100)); n != 0 || !errors.Is(err, errStale) {
				t.Fatalf("read %d: %v", n, err)
			}
			_ = w.Close()
			if sent, _ := io.ReadAll(other); len(sent) > 0 {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

// spoken waits for what was said to arrive.
func spoken(t *testing.T, w *wire) (there bool) {
	t.Helper()
	err := w.access.Read(func(fd uintptr) bool {
		_, err := retrying(peek, fd, make([]byte, 1))
		there = err == nil || !errors.Is(err, syscall.EAGAIN)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestWire_ask_sendsTheRestOnceTheSocketHasRoom(t *testing.T) {
	w, other := wired(t)
	if err := w.Conn.(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	request := strings.Repeat("0123456789", 100_000)
	hold(t, w, request)
	go func() {
		got := make([]byte, len(request))
		_, _ = io.ReadFull(other, got)
		if string(got) == request {
			_, _ = io.WriteString(other, "whole")
		}
		_ = other.Close()
	}()
	answer := make([]byte, 100)
	if n, err := w.Read(answer); string(answer[:n]) != "whole" {
		t.Errorf("answered %q: %v", answer[:n], err)
	}
	if n, err := w.Read(answer); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("then %q: %v", answer[:n], err)
	}
}

func TestWire_ask_endsAtTheDeadline(t *testing.T) {
	w, other := wired(t)
	for name, deadline := range map[string]time.Time{
		"while it waits": time.Now().Add(50 * time.Millisecond), "that is past": time.Unix(1, 0),
	} {
		if err := w.SetDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		hold(t, w, name)
		if _, err := w.Read(make([]byte, 100)); !errors.Is(err, os.ErrDeadlineExceeded) || !isTimeout(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = w.Close()
	if sent, _ := io.ReadAll(other); string(sent) != "while it waits" {
		t.Errorf("sent %q", sent)
	}
}
