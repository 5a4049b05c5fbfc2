package cost

import (
	"strings"
	"testing"
)

func TestSplice_writesBetweenTheMarks(t *testing.T) {
	rows := []row{{"a name", 10, usage{requests: 20, fair: 10, published: 10, writes: 20, logged: 10_000, sent: 10_000}}}
	made := text(rows, []row{{"two keys", 1, usage{keys: 2}}, {"alarms", 1, usage{alarms: 10}}})
	got, err := splice("before\n"+begin+"old\n"+end+"after\n", made)
	if want := "before\n" + begin + "\n" + made + "\n" + end + "after\n"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, line := range []string{
		"| a name | 0.90 | 0.00 | 1.25 | 0.00 | 0.00 | 0.50 | 0.00 | **2.65** | 0.40 | 0.09 | **3.14** |",
		"| a name | 2.00 | 0.00 | 0.0 | 2.00 | 0.00 | 1000 | 0.00 | 1000 |",
		"| two keys | 2.00 |\n| alarms | 1.00 |\n| **all** | **3.00** |",
		"| KMS | 0.03 per 10,000 calls |",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if _, err := splice(end+begin, made); err == nil {
		t.Error("a page without marks was taken")
	}
}
