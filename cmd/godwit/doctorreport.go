package main

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/owner"
)

// What in a text tells who somebody is, where a machine is, or opens something. What stands for it is numbered, the
// same for the same, so that a report can still be followed.
var (
	idTexts        = regexp.MustCompile(`\b(?:12D3KooW|Qm|16Uiu2|bafz)[1-9A-Za-z]{20,}`)
	multiaddrTexts = regexp.MustCompile(`/(?:ip4|ip6|dns4?|dns6|dnsaddr)/[^\s,;)"']+`)
	urlTexts       = regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s,;)"']+`)
	mailTexts      = regexp.MustCompile(`\b[\w.+-]+@[\w-]+\.[\w.-]+`)
	// addressTexts are what may be one of IPv4 or IPv6, with a port or a zone: netip says which is.
	addressTexts = regexp.MustCompile(`\[?[0-9A-Fa-f:.]*[:.][0-9A-Fa-f:.]+(?:%\w+)?\]?(?::\d+)?`)
	nameTexts    = regexp.MustCompile(`\b(?:dnsaddr:)[^\s,;)"']+`)
	// secretTexts are what is too long for a word: keys, tokens, tickets, hashes in hex and base64.
	secretTexts = regexp.MustCompile(`[A-Za-z0-9_+/=-]{24,}`)
	letterTexts = regexp.MustCompile(`[/_=-]`)
)

// A scrubber takes out of texts what is nobody else's business.
type scrubber struct {
	own   *strings.Replacer // home, user and name of the machine
	known map[string]string
	count map[string]int
}

func newScrubber(words map[string]string) *scrubber {
	var pairs []string
	for word, stands := range words {
		if len(word) > 1 { // "/" as a home is in every path
			pairs = append(pairs, word, stands)
		}
	}
	return &scrubber{own: strings.NewReplacer(pairs...), known: map[string]string{}, count: map[string]int{}}
}

// stand is what stands for a text of a kind.
func (s *scrubber) stand(kind, text string) string {
	if s.known[text] == "" {
		s.count[kind]++
		s.known[text] = fmt.Sprintf("<%s %d>", kind, s.count[kind])
	}
	return s.known[text]
}

func (s *scrubber) of(kind string) func(string) string {
	return func(text string) string { return s.stand(kind, text) }
}

// scrub is a text without them. It keeps paths, versions and numbers, by which help is given.
func (s *scrubber) scrub(text string) string {
	text = s.own.Replace(text)
	text = urlTexts.ReplaceAllStringFunc(text, s.of("page"))
	text = nameTexts.ReplaceAllStringFunc(text, s.of("name"))
	text = multiaddrTexts.ReplaceAllStringFunc(text, s.of("address"))
	text = idTexts.ReplaceAllStringFunc(text, s.of("peer"))
	text = mailTexts.ReplaceAllStringFunc(text, s.of("mail"))
	text = addressTexts.ReplaceAllStringFunc(text, func(word string) string {
		if isAddress(word) {
			return s.stand("address", word)
		}
		return word
	})
	return secretTexts.ReplaceAllStringFunc(text, func(word string) string {
		// A path, or words with hyphens, is long by its parts; a secret has a part of which nobody says the letters.
		for _, part := range letterTexts.Split(word, -1) {
			if len(part) >= 20 || strings.ContainsAny(part, "0123456789+") && len(part) >= 12 {
				return s.stand("secret", word)
			}
		}
		return word
	})
}

// isAddress reports whether a word is an address of the net, alone, with a port, or in brackets; the sentence may go on
// with a stop or a colon.
func isAddress(word string) bool {
	for {
		_, withPort := netip.ParseAddrPort(word)
		_, alone := netip.ParseAddr(strings.Trim(word, "[]"))
		if withPort == nil || alone == nil {
			return true
		}
		if !strings.HasSuffix(word, ".") && !strings.HasSuffix(word, ":") {
			return false
		}
		word = word[:len(word)-1]
	}
}

// whose are the words that name this machine and who uses it.
func whose(dataDir string) map[string]string {
	words := map[string]string{}
	if host, err := os.Hostname(); err == nil {
		words[host] = "<machine>"
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME", "SUDO_USER"} {
		if user := os.Getenv(name); user != "" && user != "root" {
			words[user] = "<user>"
		}
	}
	if dataDir != "" {
		words[dataDir] = "DATA-DIR"
	}
	if home, err := os.UserHomeDir(); err == nil {
		words[home] = "~"
	}
	return words
}

// writeReport writes what helps to help: the program, the system, and the findings, without what tells who and where
// anybody is. It is a file of its owner alone, who reads it before giving it away.
func writeReport(file string, findings []owner.Finding, words map[string]string, now time.Time) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failure.Usage("name a file that is not there yet", "writing the report: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return printReport(f, findings, words, now)
}

func printReport(w io.Writer, findings []owner.Finding, words map[string]string, now time.Time) error {
	b := programBuild()
	s := newScrubber(words)
	var text strings.Builder
	fmt.Fprintf(&text, "What `godwit doctor` found, for whoever helps. Addresses, names and keys are left out.\n\n")
	fmt.Fprintf(&text, "version  %s (%s, %s)\ndate     %s\n", b.Version, b.System, b.Go, now.UTC().Format(time.DateOnly))
	scrubbed := make([]owner.Finding, len(findings))
	for i, f := range findings {
		f.Check, f.Text, f.Fix = s.scrub(f.Check), s.scrub(f.Text), s.scrub(f.Fix)
		scrubbed[i] = f
	}
	printFindings(&text, scrubbed)
	_, err := io.WriteString(w, text.String())
	return err
}
