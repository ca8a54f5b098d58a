package campaign

import (
	"fmt"

	"github.com/inferencebench/inferencebench/agents/langchain"
	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
)

// Key is the model's key from the environment, "" where none is named.
func (a Agents) Key(getenv func(string) string) (string, error) {
	if a.KeyEnv == "" {
		return "", nil
	}
	key := getenv(a.KeyEnv)
	if key == "" {
		return "", Problems{{Field: "agents.key_env", Message: fmt.Sprintf("the environment variable %s is not set", a.KeyEnv)}}
	}
	return key, nil
}

// Caller is access to the model within its limits. Nothing is dialled. record, which may be
// nil, gets every call.
func (a Agents) Caller(getenv func(string) string, clock archive.Clock, record func(llm.Record)) (*llm.Caller, error) {
	key, err := a.Key(getenv)
	if err != nil {
		return nil, err
	}
	model, err := langchain.New(langchain.Config{Provider: langchain.Provider(a.Provider), Model: a.Model, BaseURL: a.URL, Key: key})
	if err != nil {
		return nil, Problems{{Field: "agents", Message: err.Error()}}
	}
	return &llm.Caller{
		Model: model, Clock: clock, Record: record,
		Budget: llm.NewBudget(llm.Limits{Calls: a.Calls, Tokens: a.Tokens, USD: a.USD}),
	}, nil
}
