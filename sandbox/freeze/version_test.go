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
	pinnedVersion = 7
	pinnedModules = 40
	pinned        = "f8299e6dce4794194ba9e145c255bc1984997b839624708d80d1ea4c52412fe6"
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
