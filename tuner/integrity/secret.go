package integrity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
)

// Secret is what a study's secret prompts follow from. It must stay unknown to whoever
// chooses configurations until the study has ended.
type Secret [32]byte

// OpenSecret reads the secret in a file, or draws one from entropy and writes it with mode
// 0600 where there is none, so that a study that was killed goes on with the same prompts.
func OpenSecret(path string, entropy io.Reader) (Secret, error) {
	var s Secret
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, 2*int64(len(s))+2))
		if err != nil {
			return s, fmt.Errorf("integrity secret: %w", err)
		}
		if n, err := hex.Decode(s[:], []byte(strings.TrimSpace(string(b)))); err != nil || n != len(s) {
			return s, fmt.Errorf("integrity secret: %s does not hold %d bytes in hexadecimal: delete it to start the study anew", path, len(s))
		}
		return s, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("integrity secret: %w", err)
	}
	if _, err := io.ReadFull(entropy, s[:]); err != nil {
		return s, fmt.Errorf("integrity secret: %w", err)
	}
	if err := os.WriteFile(path, []byte(hex.EncodeToString(s[:])+"\n"), 0o600); err != nil {
		return s, fmt.Errorf("integrity secret: %w", err)
	}
	return s, nil
}

// rng is the source of the secret prompts.
func (s Secret) rng() *rand.Rand { return rand.New(rand.NewChaCha8(s)) }

// hash is the first eight bytes of a keyed hash, in hexadecimal.
func (s Secret) hash(label int, text string) string {
	h := hmac.New(sha256.New, s[:])
	_ = binary.Write(h, binary.LittleEndian, int64(label)) // a hash's Write returns no error
	_, _ = io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// depths are how many words of a reply each hash of a print covers.
var depths = [...]int{2, 4, 8, 16}

// agreeAt is the index into depths at which two replies count as the same: eight words.
const agreeAt = 2

// Print is what is kept of the reply to a secret prompt.
type Print struct {
	// Hash is of the first 2, 4, 8 and 16 words, keyed by the secret and the prompt's number.
	Hash [len(depths)]string `json:"hash"`
	// Whole is of all, keyed by the secret alone, so that equal replies to different prompts
	// show.
	Whole  string `json:"whole"`
	Chars  int    `json:"chars"`
	Tokens int    `json:"tokens"` // as the server counted, or the chunks where it did not
	Finish string `json:"finish"`
	Error  string `json:"error,omitempty"`
}

func (s Secret) print(i int, r reply) Print {
	p := Print{Chars: len(r.text), Tokens: r.tokens, Finish: r.finish, Error: r.err}
	if r.err != "" {
		return p
	}
	words := strings.Fields(r.text)
	for d, n := range depths {
		p.Hash[d] = s.hash(i, strings.Join(words[:min(n, len(words))], " "))
	}
	p.Whole = s.hash(-1, r.text)
	return p
}
