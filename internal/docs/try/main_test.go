//go:build unix

package main

import (
	"context"
	"os/exec"
	"testing"

	"godwit/internal/docs"
)

// TestTryOne: what a document says is told from what commands do.
func TestTryOne(t *testing.T) {
	for _, tool := range []string{"git", "bash", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	for name, c := range map[string]struct {
		text  string
		quick bool
		want  tally
	}{
		"right": {text: "```sh\nx=1\necho hi\n```\n```output\nhi\n```\n```sh\ntest $x = 1\n```\n",
			want: tally{ran: 2}},
		"other output": {text: "```sh\necho hi\n```\n```output\nho\n```\n```sh\ntrue\n```\n", want: tally{failed: 1}},
		"fails":        {text: "```sh\nfalse\ntrue\n```\n", want: tally{failed: 1}},
		"exit code 2":  {text: "```sh\n# fails with exit code 2\nexit 2\n```\n```sh\ntrue\n```\n", want: tally{ran: 2}},
		"exit code 0":  {text: "```sh\n# fails with exit code 2\ntrue\n```\n", want: tally{failed: 1}},
		"not tried":    {text: "```sh\n# not tried: it needs root\nfalse\n```\n", want: tally{notTried: 1}},
		"needs what is not there": {text: "```sh\n# needs no-such-program\nfalse\n```\n```sh\n# needs true\ntrue\n```\n",
			want: tally{ran: 1, notTried: 1}},
		"later": {text: "```sh\n# takes 3 minutes\nfalse\n```\n```sh\ntrue\n```\n", quick: true,
			want: tally{ran: 1, later: 1}},
		"a file": {text: "Save it as `d/f`:\n```text\nhi\n```\n```sh\ncat d/f\n```\n```output\nhi\n```\n",
			want: tally{ran: 1}},
		"beside": {text: "```sh\n# in a terminal of its own\necho up; cat fifo\n```\n```output\nup\n...\n```\n" +
			"```sh\ntrue\n```\n", want: tally{ran: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			blocks, err := docs.Blocks(c.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tryOne(context.Background(), "x.md", blocks, options{quick: c.quick, godwit: "main.go"})
			if err != nil || got != c.want {
				t.Errorf("got %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}
