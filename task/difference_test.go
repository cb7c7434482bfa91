package task

import "testing"

func TestDifference(t *testing.T) {
	out := func(name, text string) Output {
		return Output{Name: name, CID: RawCID([]byte(text)), Size: int64(len(text))}
	}
	of := func(outputs ...Output) *Result {
		return &Result{Outcome: Completed, Outputs: outputs}
	}
	for _, tt := range []struct {
		signed, here *Result
		want         string
	}{
		{of(), &Result{Outcome: Trapped}, "it ended as trapped here, as completed by the result"},
		{&Result{Outcome: ExitFailure, ExitCode: 3}, &Result{Outcome: ExitFailure, ExitCode: 4},
			"it ended with exit code 4 here, with 3 by the result"},
		{of(out("a", "x")), of(out("a", "y")), "a has other bytes here"},
		{of(out("a", "x")), of(out("a", "yy")), "a has 2 bytes here, 1 by the result"},
		{of(), of(out("a", "x")), "a is not among the result's outputs"},
		{of(out("a", "x"), out("b", "x")), of(), "a is not written here, and 1 outputs more differ"},
		{of(out("a", "x"), out("b", "x")), of(out("a", "y"), out("b", "x")), "a has other bytes here"},
	} {
		if got := tt.signed.Difference(tt.here, nil); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if tt.signed.Digest() == tt.here.Digest() {
			t.Errorf("%q: the digests are equal", tt.want)
		}
	}
}
