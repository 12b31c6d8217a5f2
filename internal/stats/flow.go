package stats

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// PageSize is the number of calls on a page of the call flow, unless another is asked for.
const PageSize = 10

// attempts is how often a page is asked again when rows were there to be counted but not to be
// read: rows and rollups of one insert become visible one after the other.
const attempts = 3

// Result filters the call flow.
type Result string

// The values of Result.
const (
	AnyResult     Result = ""
	OnlySuccesses Result = "success"
	OnlyFailures  Result = "failure"
)

// CallsQuery selects calls of some applications.
type CallsQuery struct {
	Applications []uuid.UUID
	Range        beijing.Range
	Page         int        // from 1
	Size         int        // calls on a page; 0: PageSize
	Model        *string    // nil: all; empty: calls that named no capability that exists
	From, To     *time.Time // when the calls started: at or after, and before; nil: whenever
	Result       Result     // narrows items and total, not the summary
	TraceID      string     // of the trace the calls belong to; empty: of any or none
	Key          uuid.UUID  // of the applications, that the calls were made with; the zero one: any or none
	Outcome      Outcome
	Dimensions   Dimensions

	// Until is the instant as of which Calls answers: those of a first page, for its other pages. Nil,
	// or more than a day ago, or to come: now.
	Until *time.Time
	// At asks Calls for the page that holds the newest call which started at or before it, whatever
	// Page says; for the last page when none did.
	At *time.Time
}

// parameters are those of every query below, and more.
func (q CallsQuery) parameters(more ...any) []any {
	if len(q.Applications) == 1 {
		more = append(more, "application", q.Applications[0])
	} else {
		more = append(more, "applications", q.Applications)
	}
	if q.Model != nil {
		more = append(more, "model", *q.Model)
	}
	if q.TraceID != "" {
		more = append(more, "trace", q.TraceID)
	}
	if q.Key != uuid.Nil {
		more = append(more, "key", q.Key)
	}
	more = append(more, q.Outcome.parameters()...)
	more = append(more, q.Dimensions.parameters()...)
	if q.From != nil {
		more = append(more, "started", q.From.UnixMilli())
	}
	if q.To != nil {
		more = append(more, "ended", q.To.UnixMilli())
	}
	if q.Until != nil {
		more = append(more, "until", q.Until.UnixMilli(), "arrivals", arrivals(*q.Until).Start().UnixMilli())
	}
	return args(more...)
}

// ofApplications is the condition that a call is of one of the applications. Rows of one stand in the order of the call flow, which
// only an equation tells ClickHouse.
func (q CallsQuery) ofApplications() string {
	if len(q.Applications) == 1 {
		return "application_id = {application:UUID}"
	}
	return "application_id IN {applications:Array(UUID)}"
}

func (q CallsQuery) size() int64 {
	if q.Size == 0 {
		return PageSize
	}
	return int64(q.Size)
}

// Call is one row of the call flow.
type Call struct {
	CallID      uuid.UUID
	StartTime   string // Beijing time, RFC 3339 with milliseconds
	Model       string
	Success     bool
	StatusCode  uint16
	DurationMs  uint32
	EndedBy     string
	Streamed    bool
	FirstByteMs *uint32       // nil when the upstream sent none
	UpstreamID  string        // named upstream it was sent to last; empty: the capability's own, or none
	Attempts    uint8         // upstreams it was sent to; 0: refused before, or not known
	Failed      FailedAttempt // the attempt before the last
	CallTokens
	Tags      []Tag          // that the caller gave it, in the order of their names
	EndUser   string         // whom the caller named, as it is kept; empty: nobody
	Estimated uint32         // tokens that limits were charged beyond those; 0: none
	KeyID     uuid.UUID      // of the application's keys, the one it was made with; the zero one: not collected
	Reason    *FailureReason // nil: it succeeded, or failed before reasons were recorded; no Message
}

// FailedAttempt is the attempt of a call that another upstream was tried after; without an UpstreamID there was none, or
// it was not kept.
type FailedAttempt struct {
	UpstreamID string
	Status     uint16 // it answered; 0: none
	DurationMs uint32 // from the start of the call
	Reason     string // code
}

// CallsSummary counts the calls of a query, whatever their result: those it would list without Result.
type CallsSummary struct {
	Calls     int64
	Successes int64
	Failures  int64
}

// CallsPage is one page of the call flow, newest first.
type CallsPage struct {
	Page    int       // from 1
	Until   time.Time // as of when: asked for again, it gives the other pages of the same list
	Items   []OwnedCall
	Total   int64 // calls that paging reaches
	Summary CallsSummary
	Models  []string // every model the applications ever called, whatever the range; by id
}

// Calls gives one page of the call flow of some applications, newest first; calls of the same millisecond
// stand in a fixed order. A page past the end is empty, and so is everything of no application. Days whose calls are not kept are empty.
// Faults: Unavailable.
func (r *Reader) Calls(ctx context.Context, q CallsQuery) (CallsPage, error) {
	page := CallsPage{Page: q.Page, Until: r.now(), Items: []OwnedCall{}, Models: []string{}}
	if len(q.Applications) == 0 {
		return page, nil
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		page.Models, err = r.models(groupCtx, q)
		return err
	})
	group.Go(func() error { return r.page(groupCtx, q, &page) })
	if err := group.Wait(); err != nil {
		return CallsPage{}, err
	}
	return page, nil
}

// page is Calls without the models. Rollups become visible a moment after their rows, or before them: a page that holds fewer
// calls than its total says is asked again.
func (r *Reader) page(ctx context.Context, q CallsQuery, page *CallsPage) error {
	if q.Until != nil && !r.inBounds(*q.Until) {
		q.Until = nil
	}
	q = r.within(q)
	if q.fromRows() {
		return r.rowsPage(ctx, q, page)
	}
	for attempt := 1; ; attempt++ {
		counted, err := r.count(ctx, &q)
		if err != nil {
			return err
		}
		page.Page, page.Until, page.Summary, page.Total = q.Page, *q.Until, counted.summary(), counted.matches(q.Result)
		if q.At != nil {
			if page.Page, err = r.pageAt(ctx, q, counted); err != nil {
				return err
			}
		}
		if page.Items, err = r.items(ctx, q, counted, page.Page); err != nil {
			return err
		}
		missing := min(q.size(), page.Total-int64(page.Page-1)*q.size()) - int64(len(page.Items))
		if missing <= 0 {
			return nil
		}
		if attempt == attempts {
			r.log.WarnContext(ctx, "rollups count calls that have no rows", "applications", len(q.Applications), "missing", missing)
			return nil
		}
	}
}

// callColumns are what scanCall reads.
const callColumns = `
    call_id, toUnixTimestamp64Milli(start_time), toString(model), success, status_code, duration_ms,
    toString(ended_by), streamed, first_byte_ms,
    toString(usage_state), toString(upstream_model), input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
    estimated_tokens, toString(upstream_id), attempts,
    toString(failed_upstream_id), failed_status, failed_ms, toString(failed_reason), key_id, toString(reason_type), toString(reason_code), upstream_status,
    used.model, used.tier, used.band, used.meter, used.amount, answer_id, reported_cost, toString(reported_currency), tags.name, tags.value, end_user`

// selectCalls is the call flow of a query in some buckets, the given order and no limit.
func selectCalls(q CallsQuery, buckets []timeBucket, order string, more ...any) (query string, parameters []any) {
	condition, bounds := within(buckets)
	if q.allInTime(buckets) {
		q.Until = nil
	}
	if q.Outcome.ByMessage() {
		more = append(more, textDays(buckets)...)
	}
	query = `
SELECT` + callColumns + `, application_id
FROM calls
WHERE ` + q.ofApplications() + `
  AND (` + condition + `)` + q.filters() + `
ORDER BY start_time ` + order + `, call_id ` + order
	return query, q.parameters(append(more, bounds...)...)
}

// filters are the conditions of everything but application and days.
func (q CallsQuery) filters() (conditions string) {
	conditions = q.listed()
	switch q.Result {
	case OnlySuccesses:
		conditions += " AND success"
	case OnlyFailures:
		conditions += " AND NOT success"
	}
	return conditions
}

// items reads the rows of a page, from the nearer end of their buckets.
func (r *Reader) items(ctx context.Context, q CallsQuery, counted series, page int) ([]OwnedCall, error) {
	p, err := r.locate(ctx, q, counted, page)
	if err != nil {
		return nil, err
	}
	items := make([]OwnedCall, 0, p.count)
	if p.count == 0 {
		return items, nil
	}
	order, offset := "DESC", p.skip
	fromOldest := p.inside - p.skip - int64(p.count)
	reversed := fromOldest < p.skip
	if reversed {
		order, offset = "ASC", fromOldest
	}
	query, parameters := selectCalls(q, p.buckets, order, "count", int64(p.count), "offset", offset)
	query += " LIMIT {count:Int64} OFFSET {offset:Int64}"
	err = r.each(inOneThread(ctx), "call flow", query, parameters, func(rows driver.Rows) error {
		c, err := scanOwnedCall(rows)
		items = append(items, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	if reversed {
		slices.Reverse(items)
	}
	return items, nil
}

// OwnedCall is a call and the application it belongs to.
type OwnedCall struct {
	Application uuid.UUID
	Call
}

// scanOwnedCall reads the columns of callColumns and the application.
func scanOwnedCall(rows driver.Rows) (c OwnedCall, err error) {
	c.Call, err = scanCall(rows, &c.Application)
	return c, err
}

// scanCall reads the columns of callColumns and, after them, more. Times come as integers, so that
// no zone of the server or of this process takes part.
func scanCall(rows driver.Rows, more ...any) (Call, error) {
	var c Call
	var startMs int64
	var reason FailureReason
	var upstreamStatus uint16
	var used usedColumns
	var tagNames, tagValues []string
	columns := []any{&c.CallID, &startMs, &c.Model, &c.Success, &c.StatusCode, &c.DurationMs, &c.EndedBy, &c.Streamed, &c.FirstByteMs,
		&c.UsageState, &c.UpstreamModel, &c.Input, &c.Output, &c.Cached, &c.CacheWrite, &c.Reasoning,
		&c.Estimated, &c.UpstreamID, &c.Attempts,
		&c.Failed.UpstreamID, &c.Failed.Status, &c.Failed.DurationMs, &c.Failed.Reason, &c.KeyID, &reason.Type, &reason.Code, &upstreamStatus,
		&used.model, &used.tier, &used.band, &used.meter, &used.amount, &c.AnswerID, &c.ReportedCost, &c.ReportedCurrency, &tagNames, &tagValues, &c.EndUser}
	if err := rows.Scan(append(columns, more...)...); err != nil {
		return Call{}, unavailable(err, "read calls")
	}
	c.StartTime = beijing.Format(time.UnixMilli(startMs))
	c.Lines = used.lines()
	for i, name := range tagNames {
		c.Tags = append(c.Tags, Tag{Name: name, Value: tagValues[i]})
	}
	if upstreamStatus != 0 {
		reason.UpstreamStatus = &upstreamStatus
	}
	if reason.Type != "" {
		c.Reason = &reason
	}
	return c, nil
}

func (r *Reader) models(ctx context.Context, q CallsQuery) ([]string, error) {
	models := []string{}
	query := "SELECT DISTINCT toString(model) AS id FROM app_models WHERE " + q.ofApplications() + " ORDER BY id"
	err := r.each(inOneThread(ctx), "models of applications", query, CallsQuery{Applications: q.Applications}.parameters(), func(rows driver.Rows) error {
		var model string
		if err := rows.Scan(&model); err != nil {
			return unavailable(err, "read models")
		}
		models = append(models, model)
		return nil
	})
	return models, err
}
