package spec

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	for in, want := range map[string]string{
		"fcfs":                                 "fcfs",
		"fcfs, fcfspp:n=6,t=0.5,random":        "fcfs|fcfspp:n=6,t=0.5|random",
		"tde:n=5,reading=prefix,age":           "tde:n=5,reading=prefix|age",
		"a:x=1,b:y=2":                          "a:x=1|b:y=2",
		"x=1,fcfs":                             "x=1|fcfs",
		"":                                     "",
		"fcfs,,random":                         "fcfs||random",
		"fcfspp:n=1,fcfspp:n=2,m=1,fcfspp:n=3": "fcfspp:n=1|fcfspp:n=2,m=1|fcfspp:n=3",
	} {
		if got := strings.Join(List(in), "|"); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
