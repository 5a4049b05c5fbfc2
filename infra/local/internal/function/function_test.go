package function

import (
	"context"
	"testing"
)

func TestFunction_take_givesNoProcessOnceCloseBegan(t *testing.T) {
	f := Function{idle: []*instance{{}}}
	f.life, f.end = context.WithCancel(t.Context())
	f.end()
	if _, err := f.take(); err == nil {
		t.Error("an idle process was given")
	}
}
