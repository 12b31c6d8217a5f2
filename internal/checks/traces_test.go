package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// collector starts the OTLP receiver of the OpenTelemetry Collector on address.
func collector(t *testing.T, address string) *consumertest.TracesSink {
	t.Helper()
	factory, sink := otlpreceiver.NewFactory(), new(consumertest.TracesSink)
	config, ok := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	if !ok {
		t.Fatal("the receiver's configuration has another type")
	}
	config.HTTP.GetOrInsertDefault().ServerConfig.NetAddr.Endpoint = address
	config.GRPC = configoptional.None[configgrpc.ServerConfig]()
	receiver, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, sink)
	if err == nil {
		err = receiver.Start(t.Context(), componenttest.NewNopHost())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Shutdown(context.Background()) })
	return sink
}

// TestACallsTraceIsTakenByARealCollectorAndFoundInTheCallFlow: the caller's trace goes on in one span,
// which names the call, and no key, body or address.
func TestACallsTraceIsTakenByARealCollectorAndFoundInTheCallFlow(t *testing.T) {
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	address := freeAddress(t)
	sink := collector(t, address)
	d := startDev(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+address)
	const secret = "what the caller asks in confidence"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.base+"/gateway/v1/chat/completions?model=demo-chat",
		strings.NewReader(`{"messages":[{"role":"user","content":"`+secret+`"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+d.accessKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("traceparent", "00-"+trace+"-"+parent+"-01")
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	_ = answer.Body.Close()
	var span ptrace.Span
	eventually(t, time.Minute, "the span arrives", func() error {
		if n := sink.SpanCount(); n != 1 {
			return fmt.Errorf("%d spans", n)
		}
		span = sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		return nil
	})
	if span.TraceID().String() != trace || span.ParentSpanID().String() != parent || span.Name() != "chat demo-chat" || span.Status().Code() == ptrace.StatusCodeError {
		t.Errorf("%s in %s of %s", span.Name(), span.TraceID(), span.ParentSpanID())
	}
	id, _ := span.Attributes().Get("callgate.call.id")
	if id.Str() != answer.Header.Get("X-Call-Id") {
		t.Errorf("the span is of the call %s, the answer of %s", id.Str(), answer.Header.Get("X-Call-Id"))
	}
	told, err := new(ptrace.JSONMarshaler).MarshalTraces(sink.AllTraces()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{d.accessKey, secret, "127.0.0.1"} {
		if strings.Contains(string(told), private) {
			t.Errorf("the span holds %q", private)
		}
	}
	eventually(t, time.Minute, "the call is found by its trace", func() error { return findsByTrace(t.Context(), d, trace, id.Str()) })
}

// findsByTrace looks for a call in the call flow of the demo applications.
func findsByTrace(ctx context.Context, d dev, trace, call string) error {
	type page struct{ Items []struct{ ID, CallID string } }
	applications, err := ask[page](ctx, d, "/api/applications")
	if err != nil {
		return err
	}
	for _, a := range applications.Items {
		found, err := ask[page](ctx, d, "/api/statistics/applications/"+a.ID+"/calls?traceId="+trace)
		if err != nil {
			return err
		}
		if len(found.Items) == 1 && found.Items[0].CallID == call {
			return nil
		}
	}
	text, _ := json.Marshal(applications)
	return errors.New("in none of " + string(text))
}
