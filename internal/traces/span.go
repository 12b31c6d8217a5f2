package traces

import (
	"bytes"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"callgate/internal/calls"
)

// schema pins the semantic conventions whose names are used below, those of generative AI among them.
const schema = "https://opentelemetry.io/schemas/1.37.0"

// span is what is told of one call.
type span struct {
	Context
	call, application           string
	method, operation, provider string
	model                       string // capability; empty when none was named
	start                       time.Time
	duration, firstByte         time.Duration // firstByte is negative when none came
	status, upstreamStatus      int
	requestBytes, responseBytes int64
	success, streamed           bool
	endedBy, reason             string
	usage                       calls.Usage
}

func spanOf(c Context, r *calls.Record, method, operation, provider string) span {
	return span{
		Context: c, call: r.CallID.String(), application: r.ApplicationID.String(),
		method: method, operation: operation, provider: provider, model: r.Model,
		start: r.Start, duration: r.Duration, firstByte: r.FirstByte,
		status: r.StatusCode, upstreamStatus: r.UpstreamCode,
		requestBytes: r.RequestBytes, responseBytes: r.ResponseBytes,
		success: r.Success, streamed: r.Streamed, endedBy: string(r.EndedBy), reason: string(r.ReasonCode),
		usage: r.Usage,
	}
}

// operations tells by a path's end what is asked, and in whose language: the provider itself is known
// to the upstream alone, and the conventions name a compatible one by the language.
var operations = []struct{ end, operation, provider string }{
	{"/chat/completions", "chat", "openai"},
	{"/responses", "chat", "openai"},
	{"/completions", "text_completion", "openai"},
	{"/embeddings", "embeddings", "openai"},
	{"/messages", "chat", "anthropic"},
	{":generateContent", "generate_content", "gcp.gemini"},
	{":streamGenerateContent", "generate_content", "gcp.gemini"},
}

func operationOf(path []byte) (operation, provider string) {
	for _, o := range operations {
		if bytes.HasSuffix(path, []byte(o.end)) {
			return o.operation, o.provider
		}
	}
	return "call", "_OTHER"
}

// request is the body of an OTLP request. Its message has the fields of ExportTraceServiceRequest, whose
// package would bring a gRPC server along.
func (t *Tracer) request(batch []span) *trace.TracesData {
	scope := &trace.ScopeSpans{SchemaUrl: schema, Scope: &common.InstrumentationScope{Name: "callgate", Version: t.config.Version}}
	for i := range batch {
		scope.Spans = append(scope.Spans, batch[i].message())
	}
	return &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
		SchemaUrl: schema,
		Resource: &resource.Resource{Attributes: []*common.KeyValue{
			text("service.name", "callgate"), text("service.version", t.config.Version), text("service.instance.id", t.config.Instance),
		}},
		ScopeSpans: []*trace.ScopeSpans{scope},
	}}}
}

func (s *span) message() *trace.Span {
	name := s.operation
	if s.model != "" {
		name += " " + s.model
	}
	m := &trace.Span{
		TraceId: s.Trace[:], SpanId: s.Span[:], Name: name, Kind: trace.Span_SPAN_KIND_SERVER, Flags: 1,
		StartTimeUnixNano: uint64(s.start.UnixNano()), EndTimeUnixNano: uint64(s.start.Add(s.duration).UnixNano()),
		Attributes: s.attributes(),
	}
	if s.Parent != [8]byte{} {
		m.ParentSpanId = s.Parent[:]
	}
	if !s.success {
		m.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR}
	}
	return m
}

func (s *span) attributes() []*common.KeyValue {
	a := []*common.KeyValue{
		text("gen_ai.operation.name", s.operation), text("gen_ai.provider.name", s.provider),
		text("http.request.method", s.method), number("http.response.status_code", int64(s.status)),
		number("http.request.body.size", s.requestBytes), number("http.response.body.size", s.responseBytes),
		text("callgate.call.id", s.call), text("callgate.application.id", s.application),
		text("callgate.ended_by", s.endedBy), truth("callgate.streamed", s.streamed),
	}
	if s.model != "" {
		a = append(a, text("gen_ai.request.model", s.model))
	}
	if s.firstByte >= 0 {
		a = append(a, number("callgate.first_byte_ms", s.firstByte.Milliseconds()))
	}
	if s.upstreamStatus != 0 {
		a = append(a, number("callgate.upstream.status_code", int64(s.upstreamStatus)))
	}
	if s.usage.Model != "" {
		a = append(a, text("gen_ai.response.model", s.usage.Model))
	}
	for field, key := range map[calls.UsageFields]string{calls.UsageInput: "gen_ai.usage.input_tokens", calls.UsageOutput: "gen_ai.usage.output_tokens"} {
		if n, known := s.usage.Number(field); known {
			a = append(a, number(key, int64(n)))
		}
	}
	if s.reason != "" {
		a = append(a, text("error.type", s.reason))
	}
	return a
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, value int64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}}
}

func truth(key string, value bool) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: value}}}
}
