package server

import (
	"encoding/json"
	"strings"

	"github.com/inferencebench/inferencebench/sim/text"
)

// Tokens of the chat template, outside the range of any text token's content.
var (
	tokBegin  = text.Hash("\x00begin")
	tokHeader = text.Hash("\x00header")
	tokEnd    = text.Hash("\x00end")
	tokTurn   = text.Hash("\x00turn")
)

// chatPrompt renders messages with the template
//
//	begin (header role end "\n\n" content turn)* header "assistant" end "\n\n"
//
// and returns the tokens and the last user message.
func chatPrompt(msgs []message) (tokens []uint64, user string, aerr *apiError) {
	if len(msgs) == 0 {
		return nil, "", badRequest("messages", "messages must not be empty")
	}
	nl := text.Hash("\n\n")
	tokens = append(tokens, tokBegin)
	for i, m := range msgs {
		switch m.Role {
		case "system", "user", "assistant", "tool", "developer":
		default:
			return nil, "", badRequest("messages", "message %d has the unknown role %.40q", i, m.Role)
		}
		s, err := m.text()
		if err != nil {
			return nil, "", badRequest("messages", "message %d: %v", i, err)
		}
		if m.Role == "user" {
			user = s
		}
		tokens = append(tokens, tokHeader, text.Hash(m.Role), tokEnd, nl)
		for _, t := range text.Tokens(s) {
			tokens = append(tokens, text.Hash(t))
		}
		tokens = append(tokens, tokTurn)
	}
	tokens = append(tokens, tokHeader, text.Hash("assistant"), tokEnd, nl)
	return tokens, user, nil
}

// plainPrompt reads the prompt of /v1/completions: a string, a list of one string, or a
// list of token ids.
func plainPrompt(raw json.RawMessage) (tokens []uint64, user string, aerr *apiError) {
	var s string
	var list []string
	var ids []uint32
	switch {
	case json.Unmarshal(raw, &s) == nil:
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		s = list[0]
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		tokens = append(tokens, tokBegin)
		for _, id := range ids {
			tokens = append(tokens, uint64(id)*0x9e3779b97f4a7c15+1)
		}
		return tokens, "", nil
	default:
		return nil, "", badRequest("prompt", "prompt must be a string, a list of one string, or a list of token ids")
	}
	if strings.TrimSpace(s) == "" {
		return nil, "", badRequest("prompt", "prompt must not be empty")
	}
	tokens = append(tokens, tokBegin)
	for _, t := range text.Tokens(s) {
		tokens = append(tokens, text.Hash(t))
	}
	return tokens, s, nil
}
