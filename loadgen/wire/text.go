package wire

import (
	"encoding/json"
	"strings"

	"github.com/inferencebench/inferencebench/loadgen/delta"
)

// stopMarkers are end-of-turn tokens that some servers let through as text.
var stopMarkers = []string{
	"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>",
	"<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<｜end▁of▁sentence｜>", "[/INST]", "</s>",
}

// TrimStopMarker returns an answer without a trailing end-of-turn marker, and whether it
// had one. The record keeps the raw text; what is scored, or goes into the history of a
// conversation, is the trimmed one.
func TrimStopMarker(text string) (string, bool) {
	trimmed := strings.TrimRight(text, " \t\r\n")
	for _, m := range stopMarkers {
		if rest, ok := strings.CutSuffix(trimmed, m); ok {
			return rest, true
		}
	}
	return text, false
}

// toolJoin joins the parts of tool calls.
type toolJoin struct {
	calls []toolCall
	at    map[int]int // index on the wire to position in calls
	size  int         // bytes held
}

type toolCall struct {
	name      string
	arguments []byte
}

// maxTools bounds the tool calls of one reply; parts of further ones are dropped.
const maxTools = 1024

func (j *toolJoin) add(t delta.Tool) {
	i, ok := j.at[t.Index]
	if !ok {
		if len(j.calls) == maxTools {
			return
		}
		if j.at == nil {
			j.at = map[int]int{}
		}
		i = len(j.calls)
		j.at[t.Index] = i
		j.calls = append(j.calls, toolCall{})
	}
	c := &j.calls[i]
	if c.name == "" {
		c.name = t.Name
	}
	c.arguments = append(c.arguments, t.Arguments...)
	j.size += len(t.Name) + len(t.Arguments)
}

// join returns the calls as a JSON list of names and arguments, "" when there are none.
func (j *toolJoin) join() string {
	if len(j.calls) == 0 {
		return ""
	}
	type call struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	list := make([]call, len(j.calls))
	for i, c := range j.calls {
		list[i] = call{c.name, string(c.arguments)}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return ""
	}
	return string(b)
}
