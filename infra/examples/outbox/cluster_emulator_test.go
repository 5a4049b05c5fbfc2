//go:build emulator

package outbox_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// cluster is a Postgres of this test binary, and one of its databases.
type cluster struct {
	bin, folder, name string
	port              int
	server            *child.Process
}

// running is the cluster of this test binary.
var running = sync.OnceValues(startPostgres)

// newOutbox is a database with an outbox, in a cluster that all tests share.
func newOutbox(t *testing.T) cluster {
	t.Helper()
	c, err := running()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, t.Name()))
	name = name[max(0, len(name)-60):]
	c.ask(t, "CREATE DATABASE "+name)
	c.name = name
	c.must(t, c.psql("-f", "schema.sql"))
	return c
}

func TestMain(m *testing.M) {
	code := m.Run()
	if c, err := running(); err == nil {
		c.server.Kill()
		_ = os.RemoveAll(c.folder)
	}
	os.Exit(code)
}

// startPostgres starts a cluster in a folder of its own. Postgres refuses to run as root, so root's belongs to the user
// whom the package makes.
func startPostgres() (cluster, error) {
	bin, err := binaries()
	if err != nil {
		return cluster{}, err
	}
	place, err := folder()
	if err != nil {
		return cluster{}, err
	}
	port, err := freePort()
	if err != nil {
		return cluster{}, err
	}
	c := cluster{bin: bin, folder: place, port: port, name: "postgres"}
	data := filepath.Join(c.folder, "data")
	if out, err := asPostgres(filepath.Join(c.bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres",
		"-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		return cluster{}, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	cmd := asPostgres(filepath.Join(c.bin, "postgres"), "-D", data, "-k", c.folder, "-h", "127.0.0.1", "-p",
		fmt.Sprint(c.port), "-c", "fsync=off", "-c", "max_connections=200", "-c", "jit=off")
	if c.server, err = child.Start(cmd); err != nil {
		return cluster{}, err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c.psql("-c", "SELECT 1").Run() == nil {
			return c, nil
		}
	}
	return cluster{}, errors.New("Postgres does not answer within a minute")
}

// binaries is the folder of initdb, postgres and psql. Debian has the server's outside the search path.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if at, missing := exec.LookPath("postgres"); missing == nil {
		found = append([]string{at}, found...)
	}
	if err != nil || len(found) == 0 {
		return "", errors.New("there is no postgres on this machine: install the package postgresql")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// folder is a folder of the user who runs Postgres. Others may not enter those of t.TempDir, and a socket's path is
// short.
func folder() (string, error) {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil || os.Getuid() != 0 {
		return folder, err
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return "", err
	}
	var uid, gid int
	if _, err := fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid); err != nil {
		return "", err
	}
	return folder, os.Chown(folder, uid, gid)
}

// asPostgres is a command that root runs as the user postgres.
func asPostgres(name string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", name}, args...)
		name = "setpriv"
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	return cmd
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (c cluster) must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// psql is a command that prints bare values, and fails at the first error.
func (c cluster) psql(args ...string) *exec.Cmd {
	args = append([]string{"-XAtq", "-v", "ON_ERROR_STOP=1", "-h", c.folder, "-p", fmt.Sprint(c.port), "-U", "postgres",
		"-d", c.name}, args...)
	return exec.Command(filepath.Join(c.bin, "psql"), args...)
}

// ask returns what a statement prints.
func (c cluster) ask(t *testing.T, sql string) string {
	t.Helper()
	return c.must(t, c.psql("-c", sql))
}

// service is a service that writes: a session that goes on while relays come and go.
type service struct {
	t   *testing.T
	in  io.WriteCloser
	cmd *exec.Cmd
	out strings.Builder
}

func (c cluster) service(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, cmd: c.psql()}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = in
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *service) say(sql string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, sql+"\n"); err != nil {
		s.t.Fatal(err, s.out.String())
	}
}

// end returns when everything is written.
func (s *service) end() {
	s.t.Helper()
	if err := s.in.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatal(err, s.out.String())
	}
}
