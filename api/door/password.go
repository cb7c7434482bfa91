package door

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/scrypt"
)

// Errors of passwords.
var (
	// ErrNoPassword is returned where none was set, or none is taken.
	ErrNoPassword = errors.New("door: no password lets anybody in here")
	// ErrWrongPassword is returned for a wrong one.
	ErrWrongPassword = errors.New("door: the password is wrong")
	// ErrTries is returned, whether it is right or not, after too many wrong ones.
	ErrTries = errors.New("door: too many wrong passwords: wait for a minute")
)

const (
	// LeastPassword is the fewest bytes of a password: with the tries that are allowed twelve drawn at random
	// are never found, and no short word is.
	LeastPassword = 12
	// MostPassword bounds what is hashed, in bytes.
	MostPassword = 1024

	// The cost of a hash: 2^15, 8 and 1 take 32 MiB and a tenth of a second, as the authors of scrypt
	// advise for logins (2017). A file that says more than mostLogN, 1 GiB, is not read.
	logN, blockSize, parallel = 15, 8, 1
	mostLogN, mostFactor      = 20, 16
	saltBytes, hashBytes      = 16, 32
	// maxPasswordFile bounds the file, in bytes.
	maxPasswordFile = 1024

	// Of one address five wrong passwords are taken at once, and then one a minute; of all together twenty,
	// and one in five seconds.
	triesEach, triesAll = 5, 20
	againEach, againAll = time.Minute, 5 * time.Second
	// maxTried bounds the addresses that are remembered.
	maxTried = 1024
)

// A Password is the one of a node, kept hashed in a file that is read at each try: one that is set counts at
// once.
type Password struct {
	File string

	mu    sync.Mutex // one is tried at a time: each takes memory
	all   tries
	tried map[string]*tries
	now   func() time.Time // nil for time.Now
}

// tries are wrong passwords that are not forgiven yet.
type tries struct {
	n  float64
	at time.Time // when n was right
}

// left forgives with time, and reports whether another may be tried.
func (t *tries) left(now time.Time, most int, again time.Duration) bool {
	t.n = max(0, t.n-now.Sub(t.at).Seconds()/again.Seconds())
	t.at = now
	return t.n <= float64(most)-1
}

// SetPassword keeps a password in a file that its owner alone may read.
func SetPassword(file, password string) error {
	if n := len(password); n < LeastPassword || n > MostPassword {
		return fmt.Errorf("a password has %d to %d bytes, not %d", LeastPassword, MostPassword, n)
	}
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	hash, err := scrypt.Key([]byte(password), salt, 1<<logN, blockSize, parallel, hashBytes)
	if err != nil {
		return fmt.Errorf("hashing the password: %w", err)
	}
	b64 := base64.RawStdEncoding.EncodeToString
	text := fmt.Sprintf("scrypt %d %d %d %s %s\n", logN, blockSize, parallel, b64(salt), b64(hash))
	fresh := file + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return fmt.Errorf("keeping the password: %w", err)
	}
	return os.Rename(fresh, file)
}

// Set reports whether there is a password.
func (p *Password) Set() bool {
	_, err := p.read()
	return err == nil
}

// Try returns nil for the right password. from is the address that tries.
func (p *Password) Try(from, password string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, err := p.read()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoPassword, err)
	}
	now := time.Now()
	if p.now != nil {
		now = p.now()
	}
	each := p.of(from, now)
	if !each.left(now, triesEach, againEach) || !p.all.left(now, triesAll, againAll) || len(password) > MostPassword {
		return ErrTries
	}
	got, err := scrypt.Key([]byte(password), h.salt, 1<<h.logN, h.r, h.p, len(h.hash))
	if err != nil {
		return fmt.Errorf("hashing the password: %w", err)
	}
	if subtle.ConstantTimeCompare(got, h.hash) != 1 {
		each.n++
		p.all.n++
		return ErrWrongPassword
	}
	return nil
}

// of returns the tries of an address. Of too many those that tried longest ago are forgotten.
func (p *Password) of(from string, now time.Time) *tries {
	if t := p.tried[from]; t != nil {
		return t
	}
	if p.tried == nil {
		p.tried = map[string]*tries{}
	}
	if len(p.tried) >= maxTried {
		oldest, at := "", now
		for a, t := range p.tried {
			if oldest == "" || t.at.Before(at) {
				oldest, at = a, t.at
			}
		}
		delete(p.tried, oldest)
	}
	t := &tries{at: now}
	p.tried[from] = t
	return t
}

// A hashed password, and what it was hashed with.
type hashed struct {
	logN, r, p int
	salt, hash []byte
}

func (p *Password) read() (*hashed, error) {
	f, err := os.Open(p.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPasswordFile))
	if err != nil {
		return nil, err
	}
	return parseHashed(string(b))
}

// parseHashed reads what SetPassword wrote.
func parseHashed(text string) (*hashed, error) {
	fields := strings.Fields(text)
	const parts = 6
	if len(fields) != parts || fields[0] != "scrypt" {
		return nil, errors.New("the file has no password that this program understands")
	}
	h := &hashed{}
	for i, n := range []*int{&h.logN, &h.r, &h.p} {
		var err error
		if *n, err = strconv.Atoi(fields[i+1]); err != nil || *n < 1 || *n > mostFactor && i > 0 || *n > mostLogN {
			return nil, fmt.Errorf("the password was hashed with %s", clip(fields[i+1]))
		}
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(fields[4]); err != nil {
		return nil, fmt.Errorf("reading the salt: %w", err)
	}
	if h.hash, err = base64.RawStdEncoding.DecodeString(fields[5]); err != nil || len(h.hash) != hashBytes {
		return nil, errors.New("the hash of the password is damaged")
	}
	return h, nil
}
