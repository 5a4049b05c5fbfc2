package child_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// asParent makes this test binary start a child, print its id and wait to be killed.
const asParent = "CHILD_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) == "" {
		os.Exit(m.Run())
	}
	p, err := child.Start(exec.Command("sleep", "60"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	time.Sleep(time.Minute)
}

func TestStart_childEndsWhenTheParentIsKilled(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := make(lines, 1)
	parent := exec.Command(binary)
	parent.Env, parent.Stdout = append(os.Environ(), asParent+"=1"), out
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := number(t, <-out)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	gone(t, pid)
}
