package wire

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferencebench/inferencebench/archive"
)

// FuzzReply gives any bytes as the body of any endpoint's reply: the record must not
// depend on how they are cut, and must be whole.
func FuzzReply(f *testing.F) {
	f.Add([]byte(role+text("a")+finish("stop")+usage(1, 1)+done), uint16(20), uint8(0), uint8(0))
	f.Add([]byte(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`), uint16(5), uint8(1), uint8(0))
	f.Add([]byte("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), uint16(3), uint8(3), uint8(0))
	f.Add([]byte("{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"done\":true}"), uint16(9), uint8(4), uint8(1))
	f.Add([]byte(`{"error":{"message":"full"}}`), uint16(2), uint8(0), uint8(2))
	f.Add([]byte("\xef\xbb\xbf \r\ndata: x"), uint16(1), uint8(5), uint8(0))
	ends := []*archive.Failure{nil, {Kind: archive.FailCut}, {Kind: archive.FailTimeoutIdle}}
	endpoints := []Endpoint{EndpointChat, EndpointCompletions, EndpointResponses, EndpointMessages, EndpointOllama, EndpointTGI, EndpointTriton}
	clients := make([]*Client, len(endpoints))
	for i, e := range endpoints {
		c, err := New(Config{BaseURL: "http://h", Model: "m", Endpoint: e, Clock: archive.NewRunClock()})
		if err != nil {
			f.Fatal(err)
		}
		clients[i] = c
	}
	f.Fuzz(func(t *testing.T, in []byte, at uint16, endpoint, how uint8) {
		if len(in) > 1<<14 {
			t.Skip("longer than a reply need be")
		}
		c := clients[int(endpoint)%len(clients)]
		status := []int{200, 200, 400}[int(how)%3]
		types := []string{"text/event-stream", "application/json", "", "text/html"}
		header := http.Header{"Content-Type": {types[int(how/3)%4]}}
		read := func(pieces ...[]byte) *archive.Request {
			rec := &archive.Request{}
			r := newReply(c, rec, 0)
			r.head(status, header.Clone(), "HTTP/1.1", arrival{at: 1, user: 1, read: 1})
			for _, p := range pieces {
				if len(p) > 0 {
					r.body(append([]byte(nil), p...), arrival{at: 2, user: 2, read: 2})
				}
			}
			var broke *archive.Failure
			if e := ends[int(how/12)%3]; e != nil {
				copied := *e
				broke = &copied
			}
			r.end(broke, arrival{at: 2, user: 2, read: 2})
			return rec
		}
		i := int(at) % (len(in) + 1)
		whole, halves := read(in), read(in[:i], in[i:])
		if diff := cmp.Diff(whole, halves, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut at %d (-whole +cut):\n%s", i, diff)
		}
		checkTimes(t, whole)
		if whole.Status == archive.StatusOK && whole.Text == "" && whole.Reasoning == "" && whole.ToolCalls == "" && len(whole.Chunks.T) == 0 {
			t.Fatalf("ok without any token: %+v", whole)
		}
	})
}
