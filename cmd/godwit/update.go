package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/release"
	"godwit/internal/signed"
	"godwit/lab/table"
	"godwit/p2p"
	"godwit/task"
)

// Where the word of a release is, and the peer ID of the key that signs it: packages set them with
// -ldflags "-X main.releaseURL=... -X main.releaseKey=...". Other builds ask nobody unless they are told whom.
var releaseURL, releaseKey = "", ""

const (
	// releaseTime is how long the word of a release may take to come.
	releaseTime = 15 * time.Second
	// releaseName is the file below the data directory with the newest word that was seen.
	releaseName = "release"
	// releaseLife is how long a word holds unless told otherwise: it is made anew each month, and two may be forgotten.
	releaseLife = 90 * 24 * time.Hour
	// maxSums bounds a SHA256SUMS: some twenty lines.
	maxSums = 64 << 10
)

// updateFlags say where to look for a newer version.
type updateFlags struct {
	check, json         bool
	from, dataDir, sums string
	keys                []string
}

// A newerReply is what was found of newer versions, for scripts.
type newerReply struct {
	Have    string    `json:"have"`
	Newest  string    `json:"newest"`
	Newer   bool      `json:"newer"`
	Known   bool      `json:"known"` // false where Have has no place in the order of versions
	Page    string    `json:"page"`
	Sums    string    `json:"sums"` // SHA-256 of its SHA256SUMS
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
}

func newUpdate() *cobra.Command {
	var u updateFlags
	cmd := &cobra.Command{
		Use:   "update --check",
		Short: "Tell whether there is a newer version, as its makers signed; nothing is installed",
		Long: `Tell whether there is a newer version, as its makers signed; nothing is installed.
Any mirror may show their word: it is signed and dated, and the newest that was seen is remembered, so
that a mirror can change nothing and lead nobody back. With --sums it says also whether a SHA256SUMS
that was downloaded is that of the version.`,
		Example: `  godwit update --check
  godwit update --check --release https://example.org/release --release-key 12D3KooW...
  godwit update --check --sums SHA256SUMS && sha256sum --ignore-missing -c SHA256SUMS`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd, http.DefaultTransport) },
	}
	f := cmd.Flags()
	f.BoolVar(&u.check, "check", false, "look, and say what there is")
	f.StringVar(&u.from, "release", releaseURL, "`PLACE` with the word of the newest release: https://... or a file")
	f.StringArrayVar(&u.keys, "release-key", nil,
		"`KEY` whose signature makes it good, as godwit update sign prints it (repeatable; one is enough)")
	f.StringVar(&u.sums, "sums", "", "`FILE` that was downloaded as SHA256SUMS, to be held against it")
	f.StringVar(&u.dataDir, "data-dir", defaultDataDir(), "`DIR` where the newest word that was seen is remembered")
	f.BoolVar(&u.json, "json", false, "print JSON")
	sign := newUpdateSign()
	sign.Args = explained(sign.Args)
	cmd.AddCommand(sign)
	return cmd
}

func (u *updateFlags) run(cmd *cobra.Command, web http.RoundTripper) error {
	trusted, err := u.trusted()
	if err != nil {
		return err
	}
	r, err := u.newest(cmd.Context(), web, trusted)
	if err != nil {
		return &failure.Error{Code: failure.ExitFailed, Err: err, Hint: updateHint(err)}
	}
	if u.sums != "" {
		if err := holdSums(&r, u.sums); err != nil {
			return err
		}
	}
	return u.print(cmd, &r)
}

// trusted are the keys whose word is taken.
func (u *updateFlags) trusted() ([]task.PeerID, error) {
	texts := u.keys
	if len(texts) == 0 && releaseKey != "" {
		texts = []string{releaseKey}
	}
	switch {
	case !u.check:
		return nil, failure.Usage(
			"`godwit update --check` says whether there is a newer version; install it as you did this one",
			"godwit installs nothing by itself")
	case u.from == "":
		return nil, failure.Usage("name the place with --release, and whose word to take with --release-key",
			"this program was built by no maker of releases, so it knows nobody to ask")
	case len(texts) == 0:
		return nil, failure.Usage("`godwit update sign` prints it",
			"no --release-key given by which the word is to be signed")
	}
	var keys []task.PeerID
	for _, text := range texts {
		key := task.PeerID(text)
		if _, err := key.PublicKey(); err != nil {
			return nil, failure.Usage("`godwit update sign` prints it", "reading --release-key: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// newest fetches the word of a release, checks it against what was seen before, and remembers it.
func (u *updateFlags) newest(ctx context.Context, web http.RoundTripper,
	trusted []task.PeerID) (r release.Release, err error) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	text, err := signed.Fetch(ctx, web, u.from, release.MaxBytes)
	if err == nil {
		r, err = release.Parse(text)
	}
	if err == nil {
		err = r.Check(trusted, time.Now())
	}
	if err != nil {
		return r, fmt.Errorf("reading %s: %w", u.from, err)
	}
	file := filepath.Join(u.dataDir, releaseName)
	// What cannot be read, or was signed by somebody else, is no word to go by.
	if text, err := signed.Fetch(ctx, nil, file, release.MaxBytes); err == nil {
		if seen, err := release.Parse(text); err == nil && seen.Signed(trusted) == nil {
			if err := r.Since(&seen); err != nil {
				return r, fmt.Errorf("reading %s: %w", u.from, err)
			}
		}
	}
	if err := remember(file, text); err != nil {
		return r, fmt.Errorf("remembering the newest release that was seen: %w", err)
	}
	return r, nil
}

// remember keeps a text as a whole, or what was there.
func remember(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// holdSums says whether a file is the SHA256SUMS of a release.
func holdSums(r *release.Release, file string) error {
	b, err := signed.Fetch(context.Background(), nil, file, maxSums)
	if err != nil {
		return failure.Usage("--sums names the SHA256SUMS that you downloaded", "reading the sums: %w", err)
	}
	if sha256.Sum256(b) != r.Sums {
		return &failure.Error{Code: failure.ExitFailed,
			Err:  fmt.Errorf("%s is not the SHA256SUMS of version %s", file, r.Version),
			Hint: "install nothing of that download: get it anew from " + r.Page}
	}
	return nil
}

func updateHint(err error) string {
	switch {
	case errors.Is(err, release.ErrExpired), errors.Is(err, release.ErrOlder):
		return "whoever shows it may be behind, or hide what is newer: ask another mirror"
	case errors.Is(err, release.ErrFuture):
		return "see whether this machine's clock is right: `godwit doctor`"
	case errors.Is(err, release.ErrDamaged), errors.Is(err, release.ErrUnsigned), errors.Is(err, release.ErrUnknownKey):
		return "do not install what is offered there: ask another mirror"
	case errors.Is(err, os.ErrPermission):
		return "say with --data-dir where it may be remembered"
	}
	return "see whether the place is right and can be reached"
}

func (u *updateFlags) print(cmd *cobra.Command, r *release.Release) error {
	have, out := programVersion(), cmd.OutOrStdout()
	newer, known := r.Newer(have)
	if u.json {
		return table.JSON(out, newerReply{have, r.Version, newer, known, r.Page, fmt.Sprintf("%x", r.Sums),
			r.Issued, r.Expires})
	}
	switch {
	case newer:
		fmt.Fprintf(out, "Version %s is there; you have %s.\nIt is at %s\n", r.Version, have, r.Page)
	case known:
		fmt.Fprintf(out, "You have the newest version, %s.\n", have)
	default:
		fmt.Fprintf(out, "The newest version is %s. You have %s, which was not given out: compare them yourself.\n"+
			"It is at %s\n", r.Version, have, r.Page)
	}
	if newer || !known {
		fmt.Fprintf(out, "The SHA-256 of its SHA256SUMS is %x\n", r.Sums)
	}
	if u.sums != "" {
		fmt.Fprintf(out, "%s is that of version %s.\n", u.sums, r.Version)
	}
	return nil
}

// releaseFlags say what `update sign` is to sign.
type releaseFlags struct {
	key, version, page, sums string
	life                     time.Duration
}

func newUpdateSign() *cobra.Command {
	var s releaseFlags
	cmd := &cobra.Command{
		Use:   "sign --key FILE --newest VERSION --page URL --sums FILE",
		Short: "Print the word of a release, signed, for those who ask for newer versions",
		Long: `Print the word of a release, signed, for those who ask for newer versions.
Put it where --release finds it. Make it anew before it expires, also when there is nothing newer.
The key's file is made if it is not there: keep it apart from machines on the net.`,
		Example: `  godwit update sign --key release.key --newest 0.2.0 --page https://example.org/godwit \
    --sums SHA256SUMS > release`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&s.key, "key", "", "`FILE` with the key to sign with, made if it is not there")
	f.StringVar(&s.version, "newest", "", "`VERSION` that is the newest, such as 0.2.0")
	f.StringVar(&s.page, "page", "", "`URL` where people get it: https://...")
	f.StringVar(&s.sums, "sums", "", "`FILE` with the SHA256SUMS of all that belongs to it")
	f.DurationVar(&s.life, "for", releaseLife, "how long the word holds")
	return cmd
}

func (s *releaseFlags) run(cmd *cobra.Command) error {
	if s.key == "" || s.version == "" || s.page == "" || s.sums == "" {
		return failure.Usage("`godwit update sign --help` has an example", "--key, --newest, --page and --sums are needed")
	}
	sums, err := signed.Fetch(cmd.Context(), nil, s.sums, maxSums)
	if err != nil || len(sums) > maxSums {
		return failure.Usage("scripts/package writes it", "reading --sums, of at most %d bytes: %w", maxSums, err)
	}
	now := time.Now()
	r, err := release.New(s.version, s.page, sha256.Sum256(sums), now, now.Add(s.life))
	if err != nil {
		return failure.Usage("", "%w", err)
	}
	key, err := p2p.LoadOrCreateKey(s.key)
	if err != nil {
		return err
	}
	if err := r.Sign(key); err != nil {
		return err
	}
	id, err := p2p.PeerIDOf(key)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "signed by %s until %s; others take its word with --release-key %s\n", id,
		r.Expires.Format(time.DateOnly), id)
	_, err = cmd.OutOrStdout().Write(r.Text())
	return err
}
