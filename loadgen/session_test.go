package loadgen_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// The server's real replies are the history, and the next turn is made from them.
func TestSessionUsesTheRealReplies(t *testing.T) {
	source := tasks.SourceFunc(func(uint64) tasks.Session {
		turn := 0
		return sessionFunc(func(reply string) (tasks.Turn, bool) {
			turn++
			switch turn {
			case 1:
				return tasks.Turn{System: "be brief", User: "first" + reply}, true
			case 2, 3:
				return tasks.Turn{User: "about " + reply, Think: 2 * time.Second}, true
			}
			return tasks.Turn{}, false
		})
	})
	s := &server{serve: always(300 * time.Millisecond)}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: source, Concurrency: 1, Requests: 3})
	want := []tasks.Message{
		{Role: "system", Content: "be brief"},
		{Role: "user", Content: "first"}, {Role: "assistant", Content: "reply 0"},
		{Role: "user", Content: "about reply 0"}, {Role: "assistant", Content: "reply 1"},
		{Role: "user", Content: "about reply 1"},
	}
	if diff := cmp.Diff(want, s.calls[2]); diff != "" {
		t.Errorf("third request (-want +got):\n%s", diff)
	}
	requests := l.byIntended()
	for k := 1; k < 3; k++ {
		if got := requests[k].T.Intended.Sub(requests[k-1].T.Done); got != 2*time.Second {
			t.Errorf("turn %d is intended %v after the reply before; want the think time, 2s", k, got)
		}
		if requests[k].Session != requests[0].Session || requests[k].Turn != k {
			t.Errorf("turn %d is recorded as turn %d of session %s", k, requests[k].Turn, requests[k].Session)
		}
	}
}

// A replayed turn gives the whole prompt, whatever was answered before, and its notes.
func TestReplayedTurnsGiveTheWholePrompt(t *testing.T) {
	prompt := []tasks.Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: "as it was"}, {Role: "user", Content: "b"}}
	note := archive.Annotation{Code: "replayed", Message: "The prompt is a replay."}
	s := &server{serve: always(time.Second)}
	l := drive(t, s, loadgen.Phase{Name: "p", Concurrency: 1, Requests: 2, Source: script(
		tasks.Turn{Messages: prompt[:1]}, tasks.Turn{Messages: prompt, Notes: []archive.Annotation{note}},
	)})
	if diff := cmp.Diff([][]tasks.Message{prompt[:1], prompt}, s.calls); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if got := l.byIntended()[1].Annotations; !slices.Contains(got, note) {
		t.Errorf("annotations = %v; want the note of the turn", got)
	}
}

// In an open loop sessions arrive whatever the server does, and their later turns follow
// the replies.
func TestPartlyOpenLoop(t *testing.T) {
	turn := tasks.Turn{User: "x", Think: time.Second}
	s := &server{serve: always(1500 * time.Millisecond)}
	l := drive(t, s, loadgen.Phase{
		Name: "p", Source: script(tasks.Turn{User: "x"}, turn, turn),
		Rate: 1, Arrival: arrival.Constant{Rate: 1}, Requests: 12,
	})
	begin, _ := l.find(archive.EventPhaseStart)
	perTurn := map[int][]time.Duration{}
	for _, r := range l.byIntended() {
		perTurn[r.Turn] = append(perTurn[r.Turn], r.T.Intended.Sub(begin.T))
	}
	for turn, times := range perTurn {
		for i, got := range times {
			if want := time.Duration(i)*time.Second + time.Duration(turn)*2500*time.Millisecond; got != want {
				t.Errorf("turn %d of session %d is intended at %v; want %v", turn, i, got, want)
			}
		}
	}
	if len(l.requests) != 12 {
		t.Errorf("%d requests; want 12", len(l.requests))
	}
}

// B80: a session ends before the turn that would pass the context limit.
func TestB80ContextLimitEndsTheSession(t *testing.T) {
	prompts := []int{1200, 2400, 3600}
	for _, c := range []struct {
		name  string
		aimed bool // the plan says how long its prompts are; otherwise the replies tell
		usage bool
		limit int
		want  int
	}{
		{"the plan tells the size", true, false, 4096, 2},
		{"the server's counts tell the size", false, true, 4096, 2},
		{"the limit leaves room for all", false, true, 4200, 3},
		{"nobody tells the size", false, false, 4096, 3},
		{"no limit is known", true, true, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			// One token is four bytes here: 4,800 bytes make the first prompt, and each
			// later turn adds a reply of 512 tokens and 688 tokens of its own.
			var turns []tasks.Turn
			for k, n := range prompts {
				turn := tasks.Turn{User: strings.Repeat("abc ", 688), MaxTokens: 512}
				if k == 0 {
					turn.User = strings.Repeat("abc ", 1200)
				}
				if c.aimed {
					turn.PromptTokens = archive.Some(n)
				}
				turns = append(turns, turn)
			}
			s := &server{serve: always(time.Second), reply: func(n int, _ *wire.Call, rec *archive.Request) {
				rec.Text = strings.Repeat("abc ", 512)
				rec.Usage = archive.Usage{Source: archive.UsageNone}
				if c.usage {
					rec.Usage = archive.Usage{Prompt: archive.Some(prompts[n]), Completion: archive.Some(512), Source: archive.UsageServer}
				}
			}}
			synctest.Test(t, func(t *testing.T) {
				only := oneSession(script(turns...))
				l, err := start(t.Context(), s, loadgen.Config{ContextLimit: c.limit},
					loadgen.Phase{Name: "p", Source: only, Rate: 1, Arrival: arrival.Constant{Rate: 1}, Duration: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				if len(l.requests) != c.want {
					t.Errorf("%d turns were sent; want %d", len(l.requests), c.want)
				}
				e, ended := l.find(loadgen.EventSessionEnd)
				if ended != (c.want == 2) {
					t.Fatalf("session_end event: %v; want %v", ended, c.want == 2)
				}
				if ended && (e.Fields["reason"] != loadgen.ReasonContextLimit || e.Fields["prompt_tokens"] != 3600 || e.Fields["turn"] != 2) {
					t.Errorf("event fields = %v; want context_limit with 3600 prompt tokens at turn 2", e.Fields)
				}
			})
		})
	}
}

// oneSession gives the first session of a source, and sessions without turns after it.
func oneSession(src tasks.Source) tasks.Source {
	return tasks.SourceFunc(func(i uint64) tasks.Session {
		if i > 0 {
			return sessionFunc(func(string) (tasks.Turn, bool) { return tasks.Turn{}, false })
		}
		return src.Session(i)
	})
}

// A session whose turn failed ends: its history would have a hole.
func TestFailedTurnEndsTheSession(t *testing.T) {
	s := &server{serve: always(time.Second), reply: func(n int, _ *wire.Call, rec *archive.Request) {
		rec.Status = archive.StatusFailed
		rec.Error = &archive.Failure{Kind: archive.FailContextOverflow, HTTPStatus: archive.Some(400)}
	}}
	l := drive(t, s, loadgen.Phase{
		Name: "p", Source: script(tasks.Turn{User: "a"}, tasks.Turn{User: "b"}), Concurrency: 1, Requests: 3,
	})
	for _, r := range l.requests {
		if r.Turn != 0 || r.Error.Kind != archive.FailContextOverflow {
			t.Errorf("turn %d with error %v; want only first turns", r.Turn, r.Error)
		}
	}
}

// B83: an empty answer keeps its place, so that roles alternate.
func TestB83EmptyAnswerKeepsItsPlace(t *testing.T) {
	for _, text := range []string{"", " \n", "<think>only thoughts"} {
		s := &server{serve: always(time.Second), reply: func(_ int, _ *wire.Call, rec *archive.Request) { rec.Text = text }}
		drive(t, s, loadgen.Phase{
			Name: "p", Source: script(tasks.Turn{User: "a"}, tasks.Turn{User: "b"}), Concurrency: 1, Requests: 2,
		})
		want := []tasks.Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: loadgen.EmptyAnswer}, {Role: "user", Content: "b"}}
		if diff := cmp.Diff(want, s.calls[1]); diff != "" {
			t.Errorf("after the answer %q (-want +got):\n%s", text, diff)
		}
	}
}

// B84 and B14: neither thinking nor an end-of-turn marker goes back to the server, unless
// the raw history was asked for; the record keeps the text as it came.
func TestB84HistoryHoldsTheAnswerOnly(t *testing.T) {
	const raw = "<think>long</think>42<|im_end|>"
	for _, c := range []struct {
		policy loadgen.History
		want   string
	}{{loadgen.HistoryAnswer, "42"}, {loadgen.HistoryRaw, raw}} {
		s := &server{serve: always(time.Second), reply: func(_ int, _ *wire.Call, rec *archive.Request) { rec.Text = raw }}
		synctest.Test(t, func(t *testing.T) {
			l, err := start(t.Context(), s, loadgen.Config{History: c.policy}, loadgen.Phase{
				Name: "p", Source: script(tasks.Turn{User: "a"}, tasks.Turn{User: "b"}), Concurrency: 1, Requests: 2,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.calls[1][1]; got != (tasks.Message{Role: "assistant", Content: c.want}) {
				t.Errorf("policy %d: history has %+v; want %q", c.policy, got, c.want)
			}
			rec := l.requests[0]
			noted := slices.ContainsFunc(rec.Annotations, func(a archive.Annotation) bool { return a.Code == "stop_marker_in_text" })
			if rec.Text != raw || noted != (c.policy == loadgen.HistoryAnswer) {
				t.Errorf("policy %d: record has text %q and notes %v", c.policy, rec.Text, rec.Annotations)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		marker           bool
	}{
		{"plain text is left alone, spaces and all", " 4 \n", " 4 \n", false},
		{"a marker at the end goes", "4<|im_end|>", "4", true},
		{"several markers and the white space between them go", "4 </s>\n<|eot_id|> \n", "4", true},
		{"a marker in the middle stays", "write </s> to end", "write </s> to end", false},
		{"a marker alone is an empty answer", "<|im_end|>", "", true},
		{"thinking at the start goes", "<think>a\nb</think>\n\n42", "42", false},
		{"two blocks of thinking go", "<think>a</think><think>b</think>42", "42", false},
		{"white space before thinking goes with it", "\n<think>x</think>42", "42", false},
		{"the opening tag was in the prompt", "so it is\n</think>42", "42", false},
		{"thinking that never ends leaves no answer", "<think>and then", "", false},
		{"tags later in the text are the answer's own", "use <think>x</think> tags", "use <think>x</think> tags", false},
		{"empty", "", "", false},
	} {
		if got, marker := loadgen.Answer(c.text); got != c.want || marker != c.marker {
			t.Errorf("%s: Answer(%q) = %q, %v; want %q, %v", c.name, c.text, got, marker, c.want, c.marker)
		}
	}
}

// Answer only ever removes, whatever the bytes.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"4<|im_end|>", "<think>a</think>b", "</think>", "<think><think></think>", "\xff</s>", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, marker := loadgen.Answer(text)
		if !strings.Contains(text, got) {
			t.Errorf("Answer(%q) = %q, which is not a part of it", text, got)
		}
		if again, more := loadgen.Answer(got); marker && (more || len(again) > len(got)) {
			t.Errorf("Answer(%q) = %q still ends with a marker", text, got)
		}
	})
}

// Checkpoint turns take the same path, keep their kind in the warm-up too, and carry their
// item.
func TestCheckpointTurns(t *testing.T) {
	check := tasks.Turn{Kind: archive.KindCheckpoint, Task: "gsm8k", Item: "m1", User: "2+2?", Temperature: archive.Some(0.0)}
	source := tasks.Interleave(once(), script(check), 2)
	s := &server{serve: always(time.Second)}
	l := drive(t, s, loadgen.Phase{Name: "p", Source: source, Concurrency: 1, Requests: 3, Warmup: loadgen.Warmup{Requests: 3}})
	var got []string
	for _, r := range l.byIntended() {
		got = append(got, string(r.Kind)+" "+r.Item)
	}
	want := []string{"warmup ", "warmup ", "checkpoint m1", "load ", "load ", "checkpoint m1"}
	if !slices.Equal(got, want) {
		t.Errorf("kinds and items = %q; want %q", got, want)
	}
}
