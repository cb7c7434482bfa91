package hostile

import (
	"testing"

	"godwit/sandbox"
)

// The modules are such as a node takes.
func TestModules(t *testing.T) {
	for name, m := range map[string][]byte{"guest": Guest(usualSpin), "compile bomb": compileBomb(10)} {
		if err := sandbox.CheckModule(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
