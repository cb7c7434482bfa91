package task

import "testing"

// A job file that says "verify: off" is told from one that says nothing, which has the overlay's default.
func TestVerifyOffIsExplicit(t *testing.T) {
	for src, want := range map[string]bool{"": false, "verify: off\n": true, "verify: 5%\n": false} {
		f, err := ParseFile("job.yaml", []byte("module: a.wasm\n"+src))
		if err != nil || f.VerifyOff != want {
			t.Errorf("%q: %v, %v", src, f, err)
		}
	}
}
