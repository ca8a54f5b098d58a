package archive

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seeds are lines that the fast decoder takes, and lines that it must hand over.
func seeds() []string {
	full := Request{
		ID: "a", Session: "s", Turn: 2, Phase: "p", Task: "chat", Kind: KindLoad, Tenant: "t", Class: "c", Status: StatusFailed,
		Error: &Failure{Kind: "http_503", HTTPStatus: Some(503), Message: "no \"room\"\n<b>", RetryAfter: Some(1.5)},
		T:     Times{Intended: 1, Send: 2, Headers: 3, First: 4, Answer: 5, Last: 6, Done: 7}, InFlight: Some(3),
		Chunks: Chunks{T: []Instant{4, 5, 6}, Tokens: []int32{1, 2, 3}, Coalesced: 1},
		Usage:  Usage{Prompt: Some(10), Completion: Some(6), Cached: Some(4), Source: UsageServer},
		Asked:  Asked{PromptTokens: Some(9), MaxTokens: Some(6), SharedPrefix: Some(0)},
		Conn:   Conn{Reused: Some(true), Protocol: "HTTP/1.1", Dial: Some(int64(5)), Wait: Some(int64(0)), Stamp: "user"},
		Finish: "stop", Text: "中🦀 \\ / é", TextSHA256: "00", Annotations: []Annotation{{"x", "y"}}, Attempts: []*Failure{{Kind: "cut"}}, Item: "i", Reasoning: "r", ToolCalls: "[]",
	}
	var out []string
	for _, r := range []Request{full, {}, {ID: "b", Chunks: Chunks{T: []Instant{}}}} {
		b, _ := json.Marshal(r)
		out = append(out, string(b))
	}
	full.Attempts = nil
	b, _ := json.Marshal(full)
	return append(out, string(b),
		`{"id":"a","id":"b"}`, `{"ID":"a"}`, `{"id":"\ud800"}`, `{"id":1}`, `{"turn":1.0}`, `{"turn":01}`, `{"t":{"int":-1}}`, `{"t":null}`, `{"chunks":{"tokens":[3000000000]}}`,
		`{"chunks":{"tokens":[null],"t":[null]}}`, `{"conn":{"reused":1}}`, `{"usage":{"prompt":null,"x":1}}`, `[]`, `null`, ``, `{"id":"a`, "{\"id\":\"\x01\"}", "{\"id\":\"\xff\"}", `{"in_flight":9223372036854775808}`, `{"turn":-0,"t":{"int":-0}}`, `{"id":"\u00e9\u003c"}`, `{"id":"a"} x`)
}

// agree checks that both decoders give the same record and the same verdict.
func agree(t *testing.T, line []byte) {
	t.Helper()
	var want, got Request
	werr := json.Unmarshal(line, &want)
	var d decoder
	gerr := d.decode(line, &got)
	if (werr == nil) != (gerr == nil) {
		t.Fatalf("%q: encoding/json says %v, the fast decoder %v", line, werr, gerr)
	}
	if werr != nil {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-encoding/json +fast):\n%s", line, diff)
	}
}

func TestFastDecoderAgrees(t *testing.T) {
	for _, s := range seeds() {
		agree(t, []byte(s))
	}
	var d decoder
	var r Request
	if b, _ := json.Marshal(Request{ID: "x", Text: "plain"}); !d.fast(b, &r) {
		t.Error("the fast decoder does not take an ordinary record")
	}
}

func FuzzFastDecoder(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(agree)
}

// The pipeline yields what a plain loop yields, bad lines and a cut end included, also
// when it is left early.
func TestPipelineAgreesWithLines(t *testing.T) {
	dir := t.TempDir()
	var data []byte
	for i := range 1000 {
		s := seeds()[i%len(seeds())]
		if i == 500 {
			s = strings.Repeat(" ", 300<<10) + `{"id":"late"}`
		}
		data = append(data, strings.ReplaceAll(s, "\n", " ")...)
		data = append(data, '\n')
	}
	data = append(data, `{"id":"cut`...)
	if err := os.WriteFile(filepath.Join(dir, RequestsFile), data, 0o644); err != nil {
		t.Fatal(err)
	}
	type item struct {
		Rec *Request
		Err string
	}
	collect := func(seq iter.Seq2[*Request, error], most int) (out []item) {
		for r, err := range seq {
			x := item{Rec: r}
			if err != nil {
				x.Err = err.Error()
			}
			if out = append(out, x); len(out) == most {
				break
			}
		}
		return out
	}
	if d := cmp.Diff(collect(lines[Request](dir, RequestsFile), -1), collect(requests(dir), -1)); d != "" {
		t.Errorf("(-lines +pipeline):\n%s", d)
	}
	if got := collect(requests(dir), 130); len(got) != 130 {
		t.Errorf("an early end leaves %d records", len(got))
	}
}
