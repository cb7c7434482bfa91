package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A bom is a software bill of materials in the words of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/): what one
// program was linked from, as it says itself.
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"` // of the document
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// billOfMaterials writes down what a Go program was linked from.
func billOfMaterials(program, to, version string, at time.Time) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bytes, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	b := bomOf(info, version, sha256.Sum256(bytes), at)
	b.Metadata.Component.Name = strings.TrimSuffix(filepath.Base(program), ".exe")
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), modeFile)
}

func bomOf(info *debug.BuildInfo, version string, sum [sha256.Size]byte, at time.Time) bom {
	self := component{Type: "application", Ref: "pkg:generic/godwit@" + version, Version: version,
		URL: "pkg:generic/godwit@" + version, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}}
	for _, s := range info.Settings {
		self.Properties = append(self.Properties, property{"go:build:" + s.Key, s.Value})
	}
	std := module("std", strings.TrimPrefix(info.GoVersion, "go"), "")
	b := bom{Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata: metadata{at.Format(time.RFC3339), self}, Components: []component{std}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, module(m.Path, m.Version, m.Sum))
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	all := dependency{Ref: self.Ref}
	for _, c := range b.Components {
		all.On = append(all.On, c.Ref)
	}
	b.Dependencies = []dependency{all}
	return b
}

// module is a Go module. Its sum is that of go.sum, over its files, which is no hash that CycloneDX knows.
func module(path, version, sum string) component {
	url := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: url, Name: path, Version: version, URL: url}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
