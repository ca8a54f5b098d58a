package wire

import (
	"net/http"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Endpoint names the API that a client speaks.
type Endpoint string

// The endpoints.
const (
	EndpointChat        Endpoint = "chat"        // OpenAI /v1/chat/completions
	EndpointCompletions Endpoint = "completions" // OpenAI /v1/completions
	EndpointResponses   Endpoint = "responses"   // OpenAI /v1/responses
	EndpointMessages    Endpoint = "messages"    // Anthropic /v1/messages
	EndpointOllama      Endpoint = "ollama"      // Ollama's own /api/chat
	EndpointTGI         Endpoint = "tgi"         // text-generation-inference /generate_stream
	EndpointTriton      Endpoint = "triton"      // Triton /v2/models/MODEL/generate_stream
)

// Timeouts are the limits on one request. Zero is no limit, and the zero Timeouts has
// none at all: a long generation must not be cut by a default.
type Timeouts struct {
	// Connect bounds name look-up, connecting and the TLS handshake together.
	Connect time.Duration
	// FirstToken bounds the time from the send to the first token-bearing event.
	FirstToken time.Duration
	// Idle bounds the time without any byte from the server, counted from the send.
	Idle time.Duration
	// Total bounds the time from the send to the end of the reply.
	Total time.Duration
}

// MaxTokensField says which body field carries [Call.MaxTokens].
type MaxTokensField string

// The choices of the field.
const (
	// MaxTokensAuto sends max_tokens until the server refuses it by name and asks for
	// max_completion_tokens; that request is sent again at once with the other field,
	// and so is every later one. Never both.
	MaxTokensAuto       MaxTokensField = ""
	MaxTokensOld        MaxTokensField = "max_tokens"
	MaxTokensCompletion MaxTokensField = "max_completion_tokens"
)

// Engine names a transport. Both give the same record for the same exchange.
type Engine string

// The engines.
const (
	// EngineNetHTTP is HTTP/1.1 by net/http: TLS, proxies and every system.
	EngineNetHTTP Engine = ""
	// EngineEventLoop is HTTP/1.1 without TLS on Linux: one thread reads all connections.
	// It is for thousands of streams.
	EngineEventLoop Engine = "epoll"
)

// Config is what a client needs. BaseURL, Model and Clock are required; every other zero
// value is the default that its comment states.
type Config struct {
	// BaseURL is the server, with or without /v1 and trailing slashes, or the full URL of
	// the endpoint, which is then used as it is. IPv6 hosts are in brackets.
	BaseURL string
	// Endpoint is the API to speak; empty is EndpointChat.
	Endpoint Endpoint
	// Model is the model name to send.
	Model string
	// Key is sent as a bearer token. It never reaches a record or an error text.
	Key string
	// Header are further headers of every request.
	Header http.Header
	// CAFile is a PEM file of certificate authorities to trust instead of the system's.
	CAFile string
	// Insecure accepts any server certificate.
	Insecure bool
	// Proxy is the URL of an HTTP or HTTPS proxy; empty uses none, whatever the
	// environment says.
	Proxy string
	// UnixSocket is the path of a Unix socket to connect to in place of the host of
	// BaseURL, which then only fills the Host header; empty uses TCP.
	UnixSocket string
	// Timeouts are the limits on a request.
	Timeouts Timeouts
	// NoStream asks for the whole reply at once instead of a stream.
	NoStream bool
	// NoUsage leaves stream_options.include_usage out of streaming requests.
	NoUsage bool
	// MaxTokensField says which field carries the output limit.
	MaxTokensField MaxTokensField
	// NoKeepAlive opens a connection for each request.
	NoKeepAlive bool
	// MaxConns caps the connections that are open at once; 0 is no cap. A request that
	// waits for one has the wait in its record.
	MaxConns int
	// HTTP2 is the number of HTTP/2 connections to share among all requests; 0 speaks
	// HTTP/1.1, with a connection for each request that is open. Arrivals are then stamped
	// in this program. Where the server takes no more streams on these connections, further
	// ones are opened, and the requests on them are annotated stream_limited. It goes with
	// EngineNetHTTP only, and without MaxConns.
	HTTP2 int
	// Engine is the transport.
	Engine Engine
	// Loops is the number of event loops of EngineEventLoop; 0 is one.
	Loops int
	// Drain makes an event loop wake at most once in this time and read all that has come
	// since: less work for each chunk, with the same kernel stamps. It needs kernel stamps
	// and gaps between tokens well above it. 0 wakes for each chunk.
	Drain time.Duration
	// UserStamps takes arrival stamps in this program even where the kernel gives them.
	UserStamps bool
	// Clock is the run's clock.
	Clock archive.Clock
}
