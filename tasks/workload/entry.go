package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// Format is what the header's format field says.
const Format = "inferencebench-workload/1"

// Header is the first line of a frozen workload.
type Header struct {
	Format string `json:"format"`
	Run    string `json:"run"`  // id of the run that sent it
	Seed   uint64 `json:"seed"` // of that run
	Model  string `json:"model,omitempty"`
}

// Entry is one request as it was sent.
type Entry struct {
	Session string          `json:"session"`
	Turn    int             `json:"turn"`
	Phase   string          `json:"phase"`
	Kind    archive.Kind    `json:"kind"`
	Task    string          `json:"task"`
	Item    string          `json:"item,omitempty"`
	At      archive.Instant `json:"at"`              // when it was due
	Think   time.Duration   `json:"think,omitempty"` // pause before it, in nanoseconds
	// Messages is the whole prompt, oldest first. In the file it is only what the prompt
	// of the session's entry before does not have.
	Messages    []tasks.Message      `json:"messages"`
	MaxTokens   int                  `json:"max_tokens,omitempty"`
	IgnoreEOS   bool                 `json:"ignore_eos,omitempty"`
	Temperature archive.Opt[float64] `json:"temperature"`
	Stop        []string             `json:"stop,omitempty"`
	// PromptTokens and SharedPrefix are as in tasks.Turn.
	PromptTokens archive.Opt[int] `json:"prompt_tokens"`
	SharedPrefix archive.Opt[int] `json:"shared_prefix"`
}

// stored is an entry in the file.
type stored struct {
	Entry
	Base int `json:"base"`
}

// seal is the last line.
type seal struct {
	Entries int    `json:"entries"`
	Content string `json:"content_sha256"`
	File    string `json:"file_sha256"`
}

// digest is the hash of what the server was sent: not when, nor under which name of
// session and phase, so that a replay has the digests of what it replays.
func (e *Entry) digest() [sha256.Size]byte {
	b, err := json.Marshal(&Entry{
		Messages: e.Messages, MaxTokens: e.MaxTokens, IgnoreEOS: e.IgnoreEOS, Temperature: e.Temperature, Stop: e.Stop,
	})
	if err != nil { // every field of an Entry can be marshalled
		panic(fmt.Sprintf("workload: entry does not marshal: %v", err))
	}
	return sha256.Sum256(b)
}

// content folds the digests of all entries in an order of their own.
func content(digests [][sha256.Size]byte) string {
	slices.SortFunc(digests, func(a, b [sha256.Size]byte) int { return slices.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, d := range digests {
		_, _ = h.Write(d[:]) // a hash's Write returns no error
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sharedPrefix is how many leading messages two prompts have in common.
func sharedPrefix(a, b []tasks.Message) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
