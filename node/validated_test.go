package node

import (
	"fmt"
	"testing"

	"godwit/task"
)

func TestValidatedIsBounded(t *testing.T) {
	var v validated
	name := func(i int) task.CID { return task.CID(fmt.Sprint("module ", i)) }
	if v.has(name(0)) {
		t.Error("it knows a module from the start")
	}
	for i := range 2 * maxValidated {
		v.add(name(i))
		v.add(name(i))
		if !v.has(name(i)) {
			t.Fatalf("module %d was forgotten at once", i)
		}
	}
	if n := len(v.modules); n != maxValidated || v.has(name(maxValidated-1)) || !v.has(name(maxValidated)) {
		t.Errorf("%d modules are remembered, the oldest %s; want the latest %d", n, v.modules[0], maxValidated)
	}
}
