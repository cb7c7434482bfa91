// Package web has the pages of the dashboard, as a browser reads them: there is no step that builds them, and nothing
// comes from elsewhere. What they show they ask of the API; what is here has no secrets.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed index.html *.js *.css *.svg vendor/*.js
var files embed.FS

// Prefix is the path below which everything is but the page itself, which is at "/".
const Prefix = "/ui/"

// page is the file that "/" answers with.
const page = "index.html"

// types are the content types by what a file's name ends in. The system's own table is not asked: on some
// machines it has scripts as text.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// An asset is a file as it is served.
type asset struct {
	content []byte
	kind    string // its content type
	tag     string // its ETag, quotes included
}

// Handler serves the page at "/" and its files below Prefix, and nothing else. A browser that has a file asks
// whether it is still the same, and is told so without the content.
func Handler() http.Handler {
	assets := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := assets[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("ETag", a.tag)
		h.Set("Cache-Control", "no-cache") // kept, and asked for each time: another version may run here next
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
	})
}

// load returns the assets by their paths. The files are part of the program: what is wrong with them is wrong with it.
func load() map[string]asset {
	assets := map[string]asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		sum := sha256.Sum256(content)
		a := asset{content, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:]) + `"`}
		if name == page {
			assets["/"] = a
		} else {
			assets[Prefix+name] = a
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return assets
}
