package feed

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// The REST API's messages, as the service documents them.
type (
	restMessage struct {
		Data        []byte            `json:"data"` // base64
		Attributes  map[string]string `json:"attributes,omitempty"`
		MessageID   string            `json:"messageId"`
		PublishTime string            `json:"publishTime"`
		OrderingKey string            `json:"orderingKey,omitempty"`
	}
	restReceived struct {
		AckID   string      `json:"ackId"`
		Message restMessage `json:"message"`
	}
	restRequest struct {
		MaxMessages int      `json:"maxMessages"`
		AckIDs      []string `json:"ackIds"`
	}
)

// serve serves the subscription's get, pull, acknowledge and modifyAckDeadline. A pull
// answers at once, with nothing if there is nothing.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	path, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), ":")
	if path != s.subscription {
		http.Error(w, "this feed has another subscription", http.StatusNotFound)
		return
	}
	var request restRequest
	if r.Method == http.MethodPost {
		if err := read(r, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	var answer any = struct{}{}
	switch method {
	case "":
		answer = map[string]any{"name": s.subscription, "ackDeadlineSeconds": 600, "topic": "projects/demo/topics/t", "state": "ACTIVE"}
	case "acknowledge":
		s.ack(request.AckIDs)
	case "modifyAckDeadline": // leases don't end
	case "pull":
		answer = s.pull(request.MaxMessages)
	default:
		http.Error(w, "this feed has no such method", http.StatusNotImplemented)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client finds out
}

// read reads a request's body, which Google's clients compress.
func read(r *http.Request, into *restRequest) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = unpacked
	}
	return json.NewDecoder(body).Decode(into)
}

func (s *Server) pull(most int) any {
	s.mu.Lock()
	var lot []*pubsubpb.ReceivedMessage
	for !s.closed && s.next < s.released && len(lot) < min(most, mostMessages) {
		lot = append(lot, s.lend(nil))
	}
	s.mu.Unlock()
	var answer struct {
		ReceivedMessages []restReceived `json:"receivedMessages,omitempty"`
	}
	for _, r := range lot {
		m := r.GetMessage()
		answer.ReceivedMessages = append(answer.ReceivedMessages, restReceived{r.GetAckId(), restMessage{
			Data: m.GetData(), Attributes: m.GetAttributes(), MessageID: m.GetMessageId(),
			PublishTime: m.GetPublishTime().AsTime().Format(time.RFC3339Nano), OrderingKey: m.GetOrderingKey(),
		}})
	}
	return answer
}
