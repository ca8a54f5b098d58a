package loadgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// History says what of a reply goes back to the server as the assistant's message.
type History int

// The policies. An empty answer is sent back as [EmptyAnswer] under both.
const (
	// HistoryAnswer sends back the answer as [Answer] finds it.
	HistoryAnswer History = iota
	// HistoryRaw sends back the text as it came.
	HistoryRaw
)

// EmptyAnswer stands in the history for an answer without text: templates refuse two user
// messages in a row, and many servers an empty message.
const EmptyAnswer = "(no answer)"

// stopMarkers are the end-of-turn markers of common chat templates, which some servers
// let through as text.
var stopMarkers = [...]string{
	"<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|eom_id|>",
	"<end_of_turn>", "<eos>", "</s>", "<|return|>", "<|user|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>",
}

const thinkOpen, thinkClose = "<think>", "</think>"

// Answer returns what a reader of the reply would call the answer: the text without the
// reasoning that a server without a reasoning parser leaves in it, and without
// end-of-turn markers at its end. marker reports that there was such a marker.
//
// Reasoning is <think>…</think> blocks at the start of the text. The opening tag may be
// missing, for many templates put it into the prompt; a block that is never closed runs to
// the end of the text, so that the answer is empty. The same tags further on belong to the
// answer.
func Answer(text string) (answer string, marker bool) {
	answer = stripThinking(text)
	for {
		trimmed := strings.TrimRight(answer, " \t\r\n")
		cut := trimmed
		for _, m := range stopMarkers {
			cut = strings.TrimSuffix(cut, m)
		}
		if len(cut) == len(trimmed) {
			break
		}
		answer, marker = strings.TrimRight(cut, " \t\r\n"), true
	}
	return answer, marker
}

// stripThinking removes a reasoning block from the start of text, with the white space
// after it.
func stripThinking(text string) string {
	for first := true; ; first = false {
		body, opened := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), thinkOpen)
		thought, rest, closed := strings.Cut(body, thinkClose)
		switch {
		case opened && !closed:
			return ""
		case opened, first && closed && !strings.Contains(thought, thinkOpen):
			text = strings.TrimLeft(rest, " \t\r\n")
		default:
			return text
		}
	}
}

// conversation is the history of one session, as the next request will carry it.
type conversation struct {
	policy   History
	tenant   *Tenant
	messages []tasks.Message
	bytes    int // of all message contents

	// The size of the last prompt and of the answer to it, where the server counted both.
	counted                   bool
	promptTokens, promptBytes int
	replyTokens, replyBytes   int
}

// ask adds the user's turn, or takes the whole prompt from a turn that gives it.
func (c *conversation) ask(t *tasks.Turn) {
	if t.Messages != nil { // a replay: the prompt is what was sent then
		c.messages, c.bytes = slices.Clone(t.Messages), 0
		for _, m := range c.messages {
			c.bytes += len(m.Content)
		}
		c.counted = false // the history is not the one that the server counted
		return
	}
	if t.System != "" {
		system := tasks.Message{Role: "system", Content: t.System}
		if len(c.messages) > 0 && c.messages[0].Role == "system" {
			c.bytes -= len(c.messages[0].Content)
			c.messages[0] = system
		} else {
			c.messages = append([]tasks.Message{system}, c.messages...)
		}
		c.bytes += len(t.System)
	}
	c.add("user", t.User)
}

func (c *conversation) add(role, content string) {
	c.messages = append(c.messages, tasks.Message{Role: role, Content: content})
	c.bytes += len(content)
}

// answered adds the reply to the last turn and returns the text that the next turn is made
// from.
func (c *conversation) answered(rec *archive.Request) string {
	reply, marker := rec.Text, false
	if c.policy == HistoryAnswer {
		reply, marker = Answer(rec.Text)
	}
	if marker {
		annotate(rec, "stop_marker_in_text", "The answer ends with an end-of-turn marker as text; it is left out of the history.")
	}
	said := reply
	if strings.TrimSpace(said) == "" {
		said = EmptyAnswer
	}
	prompt, known := rec.Usage.Prompt.Get()
	generated, both := rec.Usage.Completion.Get()
	c.counted = known && both && prompt > 0 && c.bytes > 0
	c.promptTokens, c.promptBytes, c.replyBytes = prompt, c.bytes, len(said)
	// Of the generated tokens only those of the answer come back in the next prompt.
	c.replyTokens = max(0, generated-rec.Usage.Reasoning.Or(0))
	if len(rec.Text) > len(reply) {
		c.replyTokens = c.replyTokens * len(reply) / len(rec.Text)
	}
	c.add("assistant", said)
	return reply
}

// size estimates the tokens of the prompt that asks t now, after ask. It is exact up to
// the last reply where the server told its counts; the new user message is taken at the
// tokens per byte of the prompt before. Without counts it is what the turn aimed at.
// False is unknown.
func (c *conversation) size(t *tasks.Turn) (int, bool) {
	if c.counted {
		perByte := float64(c.promptTokens) / float64(c.promptBytes)
		fresh := max(0, c.bytes-c.promptBytes-c.replyBytes)
		return c.promptTokens + c.replyTokens + int(perByte*float64(fresh)+0.5), true
	}
	return t.PromptTokens.Get()
}

// annotate adds the annotation unless one of its code is there.
func annotate(rec *archive.Request, code, message string) {
	for _, a := range rec.Annotations {
		if a.Code == code {
			return
		}
	}
	rec.Annotations = append(rec.Annotations, archive.Annotation{Code: code, Message: message})
}

// EOSNotIgnored annotates an answer that a server ended although it was asked not to.
const EOSNotIgnored = "eos_not_ignored"

// earlyEnd marks an answer that ended by itself before its length, where the server was asked
// for the whole length.
func earlyEnd(rec *archive.Request, ignoreEOS bool, length int) {
	if n, ok := rec.Usage.Completion.Get(); ok && ignoreEOS && rec.Status == archive.StatusOK && rec.Finish == "stop" && n < length {
		annotate(rec, EOSNotIgnored, fmt.Sprintf("ignore_eos was asked for, and the answer ended by itself after %d of %d tokens", n, length))
	}
}
