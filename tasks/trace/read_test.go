package trace

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		about, in string
		format    Format
		want      []Row
	}{
		{
			"Azure 2023 has seven fractional digits and no zone, and no line end at its end",
			"TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8", Azure,
			[]Row{{Timed: true, In: 4808, Out: 10, Cached: -1}, {At: 52 * time.Millisecond, Timed: true, In: 3180, Out: 8, Cached: -1}},
		},
		{
			"Azure 2024 has a zone, and now and then no fraction",
			"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+00:00,10,1\n2024-05-10 00:00:00.500000+00:00,20,2\n", Azure,
			[]Row{{Timed: true, In: 10, Out: 1, Cached: -1}, {At: 500 * time.Millisecond, Timed: true, In: 20, Out: 2, Cached: -1}},
		},
		{
			"Azure 2025 counts images",
			"TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15T00:00:00Z,2,10,1\n", Azure,
			[]Row{{Timed: true, Images: 2, In: 10, Out: 1, Cached: -1}},
		},
		{
			"BurstGPT's first files have six columns, and no answer means failed",
			"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,0,1087,API log\n", BurstGPT,
			[]Row{{Timed: true, In: 472, Out: 18, Cached: -1, Type: "ChatGPT"}, {At: 40 * time.Second, Timed: true, In: 1087, Cached: -1, Failed: true, Type: "GPT-4"}},
		},
		{
			"BurstGPT's third file has sessions, so columns go by name",
			"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,s1,1.5,\"GPT-4, turbo\",472,18,490,x\n", BurstGPT,
			[]Row{{Timed: true, Session: "s1", In: 472, Out: 18, Cached: -1, Type: "GPT-4, turbo"}},
		},
		{
			"Etalon has lengths only",
			"num_prefill_tokens,num_decode_tokens,pd_ratio\n100,20,5\n", Etalon,
			[]Row{{In: 100, Out: 20, Cached: -1}},
		},
		{
			"Mooncake has milliseconds and blocks of 512",
			`{"timestamp": 27000, "input_length": 1025, "output_length": 3, "hash_ids": [0, 1, 2]}`, Mooncake,
			[]Row{{Timed: true, In: 1025, Out: 3, Cached: -1, Blocks: []uint64{0, 1, 2}, Block: 512}},
		},
		{
			"Bailian has seconds, chats and blocks of 16",
			`{"chat_id": 7, "parent_chat_id": -1, "timestamp": 1.5, "input_length": 33, "output_length": 3, "type": "text", "turn": 2, "hash_ids": [5, 6]}`, Bailian,
			[]Row{{Timed: true, Session: "7", Turn: 1, In: 33, Out: 3, Cached: -1, Type: "text", Blocks: []uint64{5, 6}, Block: 16}},
		},
		{
			"a coding agent's session is many calls, with their caches",
			`{"turns":[{"llm_calls":[{"timestamp":"2026-06-01T10:00:00Z","model":"m","tokens":{"prompt":22000,"completion":120,"cached":0}},{"timestamp":"2026-06-01T10:00:09.5Z","model":"m","tokens":{"prompt":23000,"completion":90,"cached":22000}}],"tool_batches":[]}]}`, GHCP,
			[]Row{{Timed: true, Session: "t#1", In: 22000, Out: 120, Type: "m"}, {At: 9500 * time.Millisecond, Timed: true, Session: "t#1", Turn: 1, In: 23000, Out: 90, Cached: 22000, Type: "m"}},
		},
		{
			"the native format has everything",
			"\xef\xbb\xbf" + `{"t_ms":0,"session_id":"a","turn":0,"input_tokens":10,"output_tokens":5}` + "\r\n\r\n" + `{"t_ms":1500.5,"session_id":"a","turn":1,"input_tokens":30,"output_tokens":6,"cached_prefix_tokens":15,"think_ms":800,"type":"chat"}` + "\r\n", Native,
			[]Row{{Timed: true, Session: "a", In: 10, Out: 5, Cached: -1}, {At: 1500500 * time.Microsecond, Timed: true, Session: "a", Turn: 1, In: 30, Out: 6, Cached: 15, Think: 800 * time.Millisecond, Type: "chat"}},
		},
	} {
		tr, err := Read("t", strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if diff := cmp.Diff(c.want, tr.Rows); diff != "" || tr.Format != c.format {
			t.Errorf("%s: format %s; want %s; rows differ (-want +got):\n%s", c.about, tr.Format, c.format, diff)
		}
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for _, c := range []struct {
		about, in string
		line      int
		say       string
	}{
		{"a JSON line that ends early (B123)", "{\"t_ms\":0,\"input_tokens\":1,\"output_tokens\":1}\n{\"t_ms\":\n", 2, "JSON"},
		{"blank lines count", "{\"t_ms\":0,\"input_tokens\":1,\"output_tokens\":1}\n\n\n{]\n", 4, "JSON"},
		{"unknown columns", "a,b,c\n1,2,3\n", 1, "no known trace"},
		{"unknown keys", `{"a":1}`, 1, "no known trace"},
		{"a row with too few columns", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1\n", 2, "2 columns"},
		{"a negative length", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,-1,5\n", 2, "not between 0"},
		{"a time that is none", "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,5\n", 2, "not a date and time"},
		{"a length that is text", "num_prefill_tokens,num_decode_tokens\n1,many\n", 2, "num_decode_tokens"},
		{"a missing length", `{"timestamp": 0, "input_length": null, "output_length": 3}`, 1, "input_length is missing"},
		{"a fractional length", `{"timestamp": 0, "input_length": 1.5, "output_length": 3}`, 1, "not a number of tokens"},
		{"a monstrous length", `{"t_ms":0,"input_tokens":1e15,"output_tokens":3}`, 1, "not a number of tokens"},
		{"two values on a line", "{\"t_ms\":0,\"input_tokens\":1,\"output_tokens\":3}\n{\"t_ms\":0,\"input_tokens\":1,\"output_tokens\":3}{}", 2, "more than one"},
		{"a quote that never ends", "Timestamp,Model,Request tokens,Response tokens\n1,\"x,2,3\n", 2, "quote"},
	} {
		_, err := Read("f", strings.NewReader(c.in))
		var le *LineError
		if !errors.As(err, &le) || le.Line != c.line || !strings.Contains(le.Msg, c.say) {
			t.Errorf("%s: %v; want line %d and %q", c.about, err, c.line, c.say)
		}
	}
	if _, err := Read("f", strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "no requests") {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := Load("does-not-exist.csv"); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestCompressedFiles(t *testing.T) {
	const text = `{"t_ms":0,"input_tokens":1,"output_tokens":1}` + "\n"
	gz := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	enc, _ := zstd.NewWriter(nil)
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	for _, name := range []string{"shard-0.jsonl.gz", "shard-1.jsonl.gz"} {
		body := gz([]byte(text))
		_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))})
		_, _ = w.Write(body)
	}
	_ = w.Close()
	for about, c := range map[string]struct {
		in   []byte
		rows int
	}{
		"gzip": {gz([]byte(text)), 1}, "zstd": {enc.EncodeAll([]byte(text), nil), 1}, "a tar.gz of gzip files": {gz(tarred.Bytes()), 2},
	} {
		if tr, err := Read("x", bytes.NewReader(c.in)); err != nil || len(tr.Rows) != c.rows {
			t.Errorf("%s: %v, %v; want %d rows", about, tr, err, c.rows)
		}
	}
	if _, err := Read("x", bytes.NewReader(gz([]byte(text))[:20])); err == nil {
		t.Error("a gzip file that ends early is no error")
	}
}

func TestUnsortedRowsAreSortedAndCounted(t *testing.T) {
	tr, err := Read("f", strings.NewReader(`{"t_ms":500,"input_tokens":1,"output_tokens":1}
{"t_ms":100,"input_tokens":2,"output_tokens":1}
{"t_ms":900,"input_tokens":3,"output_tokens":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if tr.OutOfOrder != 1 || tr.Rows[0].In != 2 || tr.Rows[0].At != 0 || tr.Rows[2].At != 800*time.Millisecond {
		t.Errorf("out of order %d, rows %+v", tr.OutOfOrder, tr.Rows)
	}
}

func TestSessionsOfATraceShareTheirHistory(t *testing.T) {
	tr, err := Read("f", strings.NewReader(`{"t_ms":0,"session_id":"a","turn":0,"input_tokens":300,"output_tokens":5}
{"t_ms":10,"session_id":"b","turn":0,"input_tokens":300,"output_tokens":5}
{"t_ms":20,"session_id":"a","turn":1,"input_tokens":700,"output_tokens":5,"cached_prefix_tokens":300}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(tr, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(i uint64) string { x, _ := p.Session(i).Next(""); return x.User }
	if a0, b0, a1 := turn(0), turn(1), turn(2); a0[:200] == b0[:200] || a0[:1000] != a1[:1000] {
		t.Error("requests of one session do not start alike, or those of two sessions do")
	}
	if _, ok := p.Session(3).Next(""); ok {
		t.Error("the plan goes on past its end")
	}
	if due, ok := p.Schedule.Next(0, 3); ok {
		t.Errorf("the schedule goes on past its end: %s", due)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"))
	f.Add([]byte(`{"timestamp": 27000, "input_length": 1025, "output_length": 3, "hash_ids": [0, 1, 2]}`))
	f.Add([]byte(`{"turns":[{"llm_calls":[{"timestamp":1.7e9,"tokens":{"prompt":1,"completion":2}}]}]}`))
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := Read("f", bytes.NewReader(b))
		if err != nil {
			return
		}
		r := Inspect(tr)
		if r.Rows != len(tr.Rows) || r.String() == "" {
			t.Fatalf("report of %d rows: %+v", len(tr.Rows), r)
		}
		for i := 1; i < len(tr.Rows); i++ {
			if tr.Rows[i].At < tr.Rows[i-1].At {
				t.Fatal("rows are not in order")
			}
		}
	})
}

func FuzzServeGen(f *testing.F) {
	f.Add("0,1.5,2,Gamma,0.5,1\n600,0,0,,0,0\n", `{"0":{"input_tokens":"{5: 0.5, 6: 0.5}"}}`)
	f.Fuzz(func(t *testing.T, windows, dataset string) {
		c, err := ReadServeGen("f", strings.NewReader(windows), strings.NewReader(dataset))
		if err == nil && len(c.Windows) == 0 {
			t.Fatal("no windows and no error")
		}
	})
}
