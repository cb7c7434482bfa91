package spectable

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	const text = "# 1 One\n| a | b |\n|---|---|\n| 1 |  |\ntext\n\n| c |\n|---|\n| 2 |\n## 1.1 More\n| d |\n|---|\n"
	for heading, want := range map[string][][][]string{
		"1 One":    {{{"a", "b"}, {"1", ""}}, {{"c"}, {"2"}}},
		"1.1 More": {{{"d"}}},
		"2":        nil,
	} {
		got, found := parse(text, heading)
		if !reflect.DeepEqual(got, want) || found != (want != nil) {
			t.Errorf("%s: got %q, %v, want %q", heading, got, found, want)
		}
	}
}

func TestRead(t *testing.T) {
	tables := Read(t, "../..", "koala.md", "4.2 Launchers")
	if got := tables[0][3]; !reflect.DeepEqual(got, []string{"launchers", "474.85", "105.5 %", "2.11", "94.8 %"}) {
		t.Errorf("got %q", got)
	}
}
