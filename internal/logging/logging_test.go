package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestParseLevels(t *testing.T) {
	for text, want := range map[string]string{
		"info": "", "debug": "", "WARN": "", "p2p=debug": "", "info,p2p=debug,api=error": "", " warn , node=info ": "",
		"":                  "no level",
		"loud":              "no level",
		"info+1":            "no level",
		"info,":             "no level",
		"info,p3p=debug":    `"p3p" is no area: they are api, node, overlay, p2p, sandbox, scheduler`,
		"info,debug":        "two levels without an area",
		"p2p=info,p2p=warn": "two levels of the area p2p",
	} {
		_, err := ParseLevels(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// Each area has its own level, and a line says its area once: the last that was given.
func TestAreas(t *testing.T) {
	levels, err := ParseLevels("warn,p2p=debug,api=error")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	log, err := New(&b, "json", levels)
	if err != nil {
		t.Fatal(err)
	}
	say := func(area string) {
		l := log.With("self", "a")
		if area != "" {
			l = In(In(l, Node), area)
		}
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			l.Log(context.Background(), level, "m", "k", 1)
		}
	}
	for area, want := range map[string]int{"": 2, Node: 2, P2P: 4, API: 1} {
		b.Reset()
		say(area)
		if got := strings.Count(b.String(), "\n"); got != want {
			t.Errorf("%q: %d lines, want %d", area, got, want)
		}
		for line := range strings.Lines(b.String()) {
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil || strings.Count(line, AreaKey) > 1 {
				t.Errorf("%q: %v", line, err)
			}
			if got, _ := v[AreaKey].(string); got != area || v["self"] != "a" || v["k"] != 1. {
				t.Errorf("%q is not of %q", line, area)
			}
		}
	}
	b.Reset()
	log.WithGroup("g").With(AreaKey, P2P).Debug("m")
	if b.Len() > 0 {
		t.Errorf("what is in a group is no area: %s", &b)
	}
}

func TestFormats(t *testing.T) {
	for _, format := range append(Formats(), "xml") {
		var b bytes.Buffer
		log, err := New(&b, format, Levels{})
		if (err == nil) != (format != "xml") {
			t.Errorf("%s: %v", format, err)
		}
		if err == nil {
			log.Info("two\nlines")
			if strings.Count(b.String(), "\n") != 1 || json.Valid(b.Bytes()) != (format == "json") {
				t.Errorf("%s: %q", format, &b)
			}
		}
	}
}
