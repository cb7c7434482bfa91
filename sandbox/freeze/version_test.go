package freeze_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// What PassVersion makes of the modules below, code and layout. Instrumented
// modules stay on disks and frames travel between machines by that version:
// whoever changes what the pass emits, or where frames keep things, counts it
// up and pins the new digest.
const (
	pinnedVersion = 6
	pinnedModules = 40
	pinned        = "7b8cd029cf5699b1ab2ea6119c585c418a740a3205e9e9439861b3edadf916b7"
)

func TestPassVersionIsCountedUp(t *testing.T) {
	sum := sha256.New()
	for i := range uint64(pinnedModules) {
		rng := rand.New(rand.NewPCG(i, 0))
		g := &generator{choice: rng.IntN}
		p, err := freeze.Instrument(g.module(), freeze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		layout, err := task.Encode(p.Layout)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(layout)
		sum.Write(p.Wasm)
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if got != pinned || freeze.PassVersion != pinnedVersion {
		t.Errorf("version %d of the pass makes %s; pinned is %s for version %d: if the change is meant, count PassVersion "+
			"up and pin both",
			freeze.PassVersion, got, pinned, pinnedVersion)
	}
}
