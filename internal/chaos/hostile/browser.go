package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// browsers are attacks on the dashboard's addresses.
func browsers() []attack {
	return []attack{
		{id: "T10", play: playCookie, plain: true, threat: "a stolen session cookie",
			before: "the cookie alone read everything, and got the token with which it changed the owner's rules"},
		{id: "T11", play: playSlowBodies, plain: true, threat: "slow connections to --lan, without a password",
			before: "800 requests without a body held 800 descriptors for more than two minutes"},
	}
}

// cookiePaths are requests that a thief tries with a cookie, by method.
var cookiePaths = []string{"GET /v1/session", "GET /v1/status", "GET /v1/overlays", "GET /v1/peers", "GET /v1/jobs",
	"GET /v1/home", "GET /v1/machine", "GET /v1/joblist", "GET /v1/swarm", "GET /v1/pools", "GET /v1/research",
	"GET /v1/credit", "POST /v1/keys", "POST /v1/machine/preview", "PUT /v1/machine/rules/max_disk", "POST /v1/jobs/check",
	"POST /v1/pause", "POST /v1/resume", "POST /v1/session/codes"}

// csrfHeader is the header in which the dashboard sends its second secret.
const csrfHeader = "Godwit-CSRF"

// playCookie has a thief use the cookie of the owner's browser, in every way but with the second secret.
func playCookie(ctx context.Context, f *field, row *Row) error {
	n, err := f.alone(ctx, "--api", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer n.Kill()
	link, err := n.Verb(ctx, f.dir, "open", "--print")
	if err != nil {
		return err
	}
	cookie, at, err := openLink(ctx, link)
	if err != nil {
		return err
	}
	v := &Varied{Seed: f.Seed, Of: "requests with the cookie of a browser, and headers that a thief can make up"}
	first := ""
	for range f.Times {
		what := cookiePaths[f.rng.IntN(len(cookiePaths))]
		status, token, err := f.steal(ctx, at, what, cookie)
		if err != nil {
			return err
		}
		v.Runs++
		if status/100 == 2 {
			v.Succeeded++
			first = orFirst(first, "%s was answered %d; the second secret was in an answer: %t", what, status, token != "")
		}
	}
	row.judge(v, first)
	var mine struct{ State string }
	row.must("the owner's own request", n.Get(ctx, "/v1/status", &mine))
	return rest(ctx)
}

// openLink follows a one-time link as a browser does, and returns the cookie and the address.
func openLink(ctx context.Context, link string) (*http.Cookie, string, error) {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return nil, "", err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	bare := *u
	bare.Fragment = ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	cookies, at := resp.Cookies(), u.Scheme+"://"+u.Host
	if len(cookies) > 0 {
		return cookies[0], at, nil
	}
	// The page redeems the code itself.
	code := u.Query().Get("code")
	if code == "" {
		code = strings.TrimPrefix(u.Fragment, "code=")
	}
	body, _ := json.Marshal(map[string]string{"code": code})
	req, err = http.NewRequestWithContext(ctx, http.MethodPost, at+"/v1/session", strings.NewReader(string(body)))
	if err != nil {
		return nil, "", err
	}
	resp2, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp2.Body.Close()
	if cookies = resp2.Cookies(); len(cookies) == 0 {
		return nil, "", fmt.Errorf("a one-time link gave no cookie: %s", resp2.Status)
	}
	return cookies[0], at, nil
}

// steal sends one request as a thief, and returns its status and the second secret, if an answer had it.
func (f *field) steal(ctx context.Context, at, what string, cookie *http.Cookie) (status int, token string, err error) {
	method, path, _ := strings.Cut(what, " ")
	if method != http.MethodGet {
		_, token, err = f.steal(ctx, at, "GET /v1/session", cookie)
		if err != nil {
			return 0, "", err
		}
	}
	body := io.Reader(http.NoBody)
	if method != http.MethodGet {
		body = strings.NewReader(`{"value": "1GiB", "for_s": 1}`)
	}
	req, err := http.NewRequestWithContext(ctx, method, at+path, body)
	if err != nil {
		return 0, "", err
	}
	req.AddCookie(cookie)
	switch f.rng.IntN(4) {
	case 0:
		req.Header.Set("Origin", at)
	case 1:
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	case 2:
		req.Header.Set("Sec-Fetch-Site", "none")
	}
	guesses := []string{token, token, cookie.Value, strings.Repeat("0", len(cookie.Value))}
	if guess := guesses[f.rng.IntN(len(guesses))]; guess != "" {
		req.Header.Set(csrfHeader, guess)
	}
	client := &http.Client{Timeout: 5 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return 0, "", err
	}
	var said struct {
		CSRF string `json:"csrf"`
	}
	_ = json.Unmarshal(b, &said) // most answers have none
	return resp.StatusCode, said.CSRF, nil
}
