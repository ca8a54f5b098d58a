package archive

// Kind says why a request was sent.
type Kind string

// The kinds of request.
const (
	KindLoad       Kind = "load"       // the load itself: the only kind in latency populations
	KindWarmup     Kind = "warmup"     // sent before the measured window
	KindCheckpoint Kind = "checkpoint" // a scored item inside the load
	KindProbe      Kind = "probe"      // a short active experiment
)

// Status is how a request ended. Every request has exactly one.
type Status string

// The statuses. Only ok requests enter latency percentiles.
const (
	StatusOK        Status = "ok"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled" // still open when the run or phase ended, or never sent
)

// Request is the raw record of one turn: what happened, before any metric is computed.
// One line of requests.jsonl.
type Request struct {
	ID      string `json:"id"`      // unique in the run; also sent as the X-Request-Id header
	Session string `json:"session"` // the conversation it belongs to
	Turn    int    `json:"turn"`    // 0 for the first turn of the session
	Phase   string `json:"phase"`   // the campaign phase that planned it
	Task    string `json:"task"`    // task kind, such as "chat"
	Kind    Kind   `json:"kind"`
	// Tenant is the share of the traffic that planned it, and Class its service class;
	// "" when the phase has no tenants.
	Tenant string `json:"tenant,omitempty"`
	Class  string `json:"class,omitempty"`

	Status Status   `json:"status"`
	Error  *Failure `json:"error"` // null unless failed or cancelled

	T      Times  `json:"t"`
	Chunks Chunks `json:"chunks"`
	Usage  Usage  `json:"usage"`
	Asked  Asked  `json:"asked"`
	Conn   Conn   `json:"conn"`
	// InFlight is how many requests of the run were open just after this one was sent,
	// itself included; unknown when it was not sent.
	InFlight Opt[int] `json:"in_flight"`

	Finish     string `json:"finish"`              // the server's finish reason, "" when it gave none
	Text       string `json:"text"`                // answer text, also when the request failed part way
	Reasoning  string `json:"reasoning,omitempty"` // reasoning text, when the server sends it apart
	ToolCalls  string `json:"tool_calls,omitempty"`
	TextSHA256 string `json:"text_sha256"` // of Text, hex; "" when there is no text
	BodySHA256 string `json:"body_sha256"` // of the request body as sent, hex

	Item     string     `json:"item,omitempty"`     // checkpoint item id
	Attempts []*Failure `json:"attempts,omitempty"` // earlier tries that failed and were retried, in order

	Annotations []Annotation `json:"annotations,omitempty"`
}

// Failure says why a request did not end well.
type Failure struct {
	// Kind is one of the Fail constants.
	Kind string `json:"kind"`
	// HTTPStatus is the response's status code; unknown when there was no response.
	HTTPStatus Opt[int] `json:"http_status"`
	// Message is the server's or the operating system's words, cut to a bounded length
	// and free of secrets.
	Message string `json:"message"`
	// RetryAfter is the server's Retry-After, in seconds.
	RetryAfter Opt[float64] `json:"retry_after,omitzero"`
}

// Failure kinds. A status code outside 2xx is "http_" and the code, such as http_503.
const (
	FailConnect         = "connect"          // no connection: refused, reset before the request, name not found
	FailTLS             = "tls"              // the TLS handshake failed
	FailClientPorts     = "client_ports"     // this machine ran out of local ports: never the server's fault
	FailClientFiles     = "client_files"     // this process ran out of file descriptors
	FailTimeoutConnect  = "timeout_connect"  // connect limit passed
	FailTimeoutFirst    = "timeout_first"    // first-token limit passed
	FailTimeoutIdle     = "timeout_idle"     // no byte for the idle limit
	FailTimeoutTotal    = "timeout_total"    // total limit passed
	FailNotSSE          = "not_sse"          // 200 with a body that is neither a stream nor a completion
	FailMalformed       = "malformed"        // an event that is not valid JSON, or over the memory guard
	FailStreamError     = "stream_error"     // an error object inside a 200 stream
	FailNoTokens        = "no_tokens"        // the stream ended well but carried no token
	FailTruncated       = "truncated"        // clean end of the body without finish reason or [DONE]
	FailCut             = "cut"              // the connection broke mid-stream
	FailContextOverflow = "context_overflow" // the server says prompt and answer exceed its context
	FailTemplate        = "template"         // the server's chat template refused the messages
	FailUnsent          = "unsent"           // planned, but the run ended before it was sent
	FailEnded           = "ended"            // open when the run ended; cancelled, not the server's fault
	FailAbandoned       = "abandoned"        // the user of the plan lost patience and left; cancelled, and a miss
	FailInternal        = "internal"         // a fault of this program
)

// Times are the instants of one request, in order. All are taken from one clock; an
// instant that did not happen is unknown. Definitions: docs/design.md section 7.
type Times struct {
	Intended Instant `json:"int"`     // when the plan wanted it sent
	Send     Instant `json:"send"`    // the first request byte was written
	Headers  Instant `json:"headers"` // response headers were complete
	First    Instant `json:"first"`   // first token-bearing event of any channel: content, reasoning or tool call
	Answer   Instant `json:"answer"`  // first answer text; equals First when nothing precedes the answer
	Last     Instant `json:"last"`    // last token-bearing event
	Done     Instant `json:"done"`    // the stream was closed, or the request failed
}

// Chunks are the arrivals of the token-bearing events of one stream. Role-only, usage,
// finish and [DONE] events are not in it. A chunk is not a token.
type Chunks struct {
	T []Instant `json:"t"`
	// Tokens is how many tokens each chunk carried, where the server said so for each
	// chunk; null otherwise. When not null it has the length of T.
	Tokens []int32 `json:"tokens"`
	// Coalesced counts chunks that arrived in the same read as a later one: their stamp
	// is an upper bound.
	Coalesced int `json:"coalesced,omitempty"`
}

// UsageSource says who counted the tokens.
type UsageSource string

// The usage sources.
const (
	UsageServer    UsageSource = "server"    // the server's usage object
	UsageEstimated UsageSource = "estimated" // counted here from the joined text
	UsageNone      UsageSource = "none"      // nobody counted
)

// Usage is the token counts of one request.
type Usage struct {
	Prompt     Opt[int]    `json:"prompt"`     // tokens of the prompt, the template's included
	Completion Opt[int]    `json:"completion"` // generated tokens, reasoning included
	Reasoning  Opt[int]    `json:"reasoning"`  // generated tokens spent on reasoning
	Cached     Opt[int]    `json:"cached"`     // prompt tokens served from a prefix cache
	Source     UsageSource `json:"source"`
}

// Asked is what the request asked for, where that is known.
type Asked struct {
	PromptTokens Opt[int] `json:"prompt_tokens"` // prompt length aimed at
	MaxTokens    Opt[int] `json:"max_tokens"`    // output limit sent to the server
	SharedPrefix Opt[int] `json:"shared_prefix"` // prompt tokens that earlier requests of the plan share
}

// Conn is what is known of the connection that carried the request.
type Conn struct {
	Reused   Opt[bool] `json:"reused"`
	Protocol string    `json:"protocol"` // such as "HTTP/1.1"; "" when no response came
	// Dial and TLS are the time spent connecting and in the TLS handshake, in
	// nanoseconds; unknown on a reused connection.
	Dial Opt[int64] `json:"dial_ns"`
	TLS  Opt[int64] `json:"tls_ns"`
	// Wait is the time the request waited inside the client for a slot or a connection
	// after its intended instant, in nanoseconds.
	Wait Opt[int64] `json:"wait_ns"`
	// Stamp is the clock that stamped arrivals: "kernel" or "user".
	Stamp string `json:"stamp"`
	// Lag is the largest time between a byte reaching the kernel and this program
	// reading it, in nanoseconds; unknown with user stamps.
	Lag Opt[int64] `json:"lag_ns"`
}

// Annotation travels beside a result and says what makes it doubtful.
type Annotation struct {
	Code    string `json:"code"`    // stable, such as "hidden_reasoning"
	Message string `json:"message"` // one sentence
}
