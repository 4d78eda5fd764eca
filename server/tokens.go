package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const (
	maxTokenFile = 1 << 20
	maxTokenLine = 4096
	maxTokens    = 1000
	// minTokenLength is 128 bits in base64; minTokenVariety keeps out what is
	// long and still no secret, such as one character again and again.
	minTokenLength  = 22
	minTokenVariety = 8

	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

var principalPattern = regexp.MustCompile(`^[A-Za-z0-9._@-]{1,64}$`)

// Tokens are the bearer tokens a server accepts, and whom each stands for. It is
// safe for concurrent use and never changes. It holds digests, not the tokens.
type Tokens struct{ entries []tokenEntry }

type tokenEntry struct {
	digest    [sha256.Size]byte
	principal string
}

// ParseTokens reads lines `principal:token`. It skips blank lines and lines that
// begin with #, and trims blanks around both parts. A principal may have several
// tokens: that is how one is replaced. Errors name the line, never a token.
func ParseTokens(r io.Reader) (*Tokens, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTokenFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of tokens: %w", err)
	}
	if len(b) > maxTokenFile {
		return nil, errors.New("the list of tokens is larger than 1 MiB: is it the right file?")
	}
	t := new(Tokens)
	number := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
		number++
		if err := t.add(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if len(t.entries) == 0 {
		return nil, errors.New("the list of tokens has no token: write a line NAME:TOKEN for each client; make a token with: openssl rand -hex 32")
	}
	return t, nil
}

// add takes one line into t, which nobody else knows yet.
func (t *Tokens) add(line string) error {
	if len(line) > maxTokenLine {
		return fmt.Errorf("it is longer than %d bytes: want NAME:TOKEN", maxTokenLine)
	}
	line = strings.Trim(line, " \t")
	if line == "" || line[0] == '#' {
		return nil
	}
	name, token, found := strings.Cut(line, ":")
	if !found {
		return errors.New("it has no colon: want NAME:TOKEN")
	}
	name, token = strings.TrimRight(name, " \t"), strings.TrimLeft(token, " \t")
	if !principalPattern.MatchString(name) {
		return errors.New("what stands before the colon is no name: want NAME:TOKEN, the name of 1 to 64 letters, digits and . _ @ -")
	}
	if err := checkToken(token); err != nil {
		return fmt.Errorf("%s %w", tokenOf(name), err)
	}
	digest := sha256.Sum256([]byte(token))
	if slices.ContainsFunc(t.entries, func(e tokenEntry) bool { return e.digest == digest }) {
		return fmt.Errorf("%s is in the list already: give every line a token of its own", tokenOf(name))
	}
	if len(t.entries) == maxTokens {
		return fmt.Errorf("%s is one more than the %d tokens there may be: remove those that are no longer used", tokenOf(name), maxTokens)
	}
	t.entries = append(t.entries, tokenEntry{digest, name})
	return nil
}

// tokenOf names a token in an error by its principal. A name that could be a
// token is left out: where a line is the wrong way round, it is one.
func tokenOf(name string) string {
	if checkToken(name) == nil {
		return "what stands after the colon (want NAME:TOKEN, not TOKEN:NAME)"
	}
	return "the token of " + name
}

// checkToken refuses what no header can carry (RFC 6750, b64token) and what can
// be guessed. Padding makes no token harder to guess and does not count.
func checkToken(token string) error {
	random := strings.TrimRight(token, "=")
	if !only(random, letters+digits+"-._~+/") {
		return errors.New("has characters that a bearer token cannot have: want letters, digits and - . _ ~ + / with = only at the end")
	}
	different := make(map[rune]bool)
	for _, c := range random {
		different[c] = true
	}
	if len(random) < minTokenLength || len(different) < minTokenVariety {
		return fmt.Errorf("can be guessed: want at least %d random characters; make one with: openssl rand -hex 32", minTokenLength)
	}
	return nil
}

// only: every character of s is one of chars.
func only(s, chars string) bool { return strings.Trim(s, chars) == "" }

// Principals are the names, sorted, each once.
func (t *Tokens) Principals() []string {
	names := make([]string, 0, len(t.entries))
	for _, e := range t.entries {
		names = append(names, e.principal)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// principal is whom token stands for. It looks at every entry whatever it finds,
// so that the time it takes does not tell how near to one a guess is.
func (t *Tokens) principal(token string) (string, bool) {
	digest := sha256.Sum256([]byte(token))
	found, at := 0, 0
	for i := range t.entries {
		same := subtle.ConstantTimeCompare(digest[:], t.entries[i].digest[:])
		at = subtle.ConstantTimeSelect(same, i, at)
		found |= same
	}
	if found == 0 {
		return "", false
	}
	return t.entries[at].principal, true
}

const (
	realm     = `Bearer realm="mcp-tools"`
	sendToken = ` Send the header "Authorization: Bearer TOKEN" with a token that the server was given (--token-file or $MCP_TOOLS_TOKEN).`
)

// checkBearer returns whom the token stands for. One in the URL does not count:
// URLs end up in logs and histories.
func (g *guard) checkBearer(r *http.Request) (string, *denial) {
	if g.tokens == nil || g.open != nil && g.open(r.URL.Path) {
		return "", nil
	}
	sent := r.Header.Values("Authorization")
	if len(sent) == 0 {
		text := "A bearer token is needed."
		if q := r.URL.Query(); q.Has("access_token") || q.Has("token") {
			text = "A bearer token is needed; one in the URL is not accepted."
		}
		return "", &denial{http.StatusUnauthorized, text + sendToken, realm}
	}
	if len(sent) == 1 {
		scheme, token, _ := strings.Cut(sent[0], " ")
		principal, ok := g.tokens.principal(strings.TrimLeft(token, " "))
		if ok && strings.EqualFold(scheme, "Bearer") {
			return principal, nil
		}
		if strings.Contains(token, ":") {
			return "", &denial{http.StatusUnauthorized, "The token has a colon: send only what stands after the colon of a line NAME:TOKEN." + sendToken, realm + `, error="invalid_token"`}
		}
	}
	return "", &denial{http.StatusUnauthorized, "The Authorization header is not accepted: it must hold one bearer token, and one that the server knows." + sendToken, realm + `, error="invalid_token"`}
}

// withoutToken is r for the handlers behind the guard, which could only leak the
// token.
func withoutToken(r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Del("Authorization")
	return r
}
