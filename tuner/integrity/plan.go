package integrity

// Plan is how much an observation asks. The zero Plan is DefaultPlan.
type Plan struct {
	Prompts   int `json:"prompts"`    // secret prompts
	Tokens    int `json:"tokens"`     // most tokens of a reply to one
	Again     int `json:"again"`      // of them asked twice, at most 16 tokens
	Canary    int `json:"canary"`     // questions asked under two system messages each
	Repeats   int `json:"repeats"`    // fresh prompts asked twice, one after the other
	Forced    int `json:"forced"`     // replies of forced length
	ForcedLen int `json:"forced_len"` // tokens of each
	Prefix    int `json:"prefix"`     // pairs of prompts with one fresh long prefix
	Words     int `json:"words"`      // words of such a prefix
	Burst     int `json:"burst"`      // new long prompts sent at once
	Parallel  int `json:"parallel"`   // requests at a time where timing does not matter
}

// DefaultPlan takes a GPU server five to thirty seconds: about 4,000 tokens.
func DefaultPlan() Plan {
	return Plan{Prompts: 24, Tokens: 128, Again: 12, Canary: 8, Repeats: 8, Forced: 8, ForcedLen: 48, Prefix: 6, Words: 600, Burst: 16, Parallel: 6}
}

// SmallPlan is for servers of tens of tokens a second: about 1,500 tokens. It decides less
// from one observation; those of acceptance and certification add up.
func SmallPlan() Plan {
	return Plan{Prompts: 16, Tokens: 48, Again: 8, Canary: 6, Repeats: 6, Forced: 6, ForcedLen: 24, Prefix: 6, Words: 150, Burst: 4, Parallel: 2}
}

// Sighting is what one observation saw. It holds no prompt and no reply.
type Sighting struct {
	Plan    Plan     `json:"plan"`
	Prints  []Print  `json:"prints"` // of the secret prompts, in order
	Again   []Print  `json:"again"`  // of the first of them, asked once more
	Canary  Canary   `json:"canary"`
	Repeats []Repeat `json:"repeats"`
	Forced  []Forced `json:"forced"`
	Prefix  Prefix   `json:"prefix"`
	Work    Work     `json:"work"`
	Server  Face     `json:"server"`
	Speed   Speed    `json:"speed"`
	Errors  int      `json:"errors"` // requests without a whole reply
	Error   string   `json:"error,omitempty"`
}

// Canary is what system messages do.
type Canary struct {
	Asked  int `json:"asked"`
	Obeyed int `json:"obeyed"` // replies that begin with the word demanded
	Pairs  int `json:"pairs"`
	Deaf   int `json:"deaf"` // pairs of equal replies under different system messages
	// Prompt is the prompt tokens that the server counted for each character sent; 0 where it
	// counted none.
	Prompt float64 `json:"prompt_tokens_per_char"`
}

// Repeat is one fresh prompt asked twice at temperature 1 with two seeds, on an idle server.
type Repeat struct {
	Same   bool    `json:"same"`     // the same text
	First  float64 `json:"first_s"`  // end to end, seconds
	Second float64 `json:"second_s"` // likewise
}

// Forced is a reply whose length was forced with ignore_eos and min_tokens.
type Forced struct {
	Asked   int    `json:"asked"`
	Counted int    `json:"counted"` // tokens as the server counted
	Chars   int    `json:"chars"`   // of text that came
	Finish  string `json:"finish"`
}

// Prefix is the time to first token, in seconds, of prompts with a new prefix and of
// prompts with the prefix of the one before.
type Prefix struct {
	Cold []float64 `json:"cold_s"`
	Warm []float64 `json:"warm_s"`
	// Cached is the prompt tokens of the warm ones that the server said it reused; Hits what
	// its metrics page counted meanwhile; both -1 where it tells nothing.
	Cached int     `json:"cached_tokens"`
	Hits   float64 `json:"hits"`
	// Claim is what its settings say of prefix caching: "on", "off" or "".
	Claim string `json:"claim"`
}

// Work is whether the server's own counters explain what was delivered.
type Work struct {
	Delivered int `json:"delivered"` // tokens
	// Generated is by how much its count of generated tokens rose; -1 where it tells nothing.
	Generated float64 `json:"generated"`
}

// Face is who the server says that it is.
type Face struct {
	Engine  string `json:"engine"`
	Version string `json:"version"`
	Header  string `json:"header"` // Server
	Via     string `json:"via"`
}

// Speed is what an idle server reaches with one stream, and with a burst of new prompts.
type Speed struct {
	// TPOT is the median time per output token, in seconds; 0 where it could not be told.
	TPOT float64 `json:"tpot_s"`
	// Burst is the time until Prompts new prompts of Prompt tokens in all that were sent at once
	// had each a first token, in seconds; 0 where it could not be told.
	Burst   float64 `json:"burst_s"`
	Prompts int     `json:"prompts"`
	Prompt  int     `json:"prompt_tokens"`
}
