package console

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"callgate/internal/stats"
)

// exportTimeout bounds one CSV file, so that a reader that stands still frees its connection.
const exportTimeout = 30 * time.Minute

var exportHeader = []string{"callId", "startTime", "model", "success", "statusCode", "durationMs", "endedBy", "streamed", "firstByteMs"}

// export is a CSV file while it is being written. An error on the way breaks the response off, so
// that half a file never looks like a whole one.
type export struct {
	*bufio.Reader
	pipe   *io.PipeReader
	cancel context.CancelFunc
}

// Close ends the export wherever it is.
func (e *export) Close() error {
	e.cancel()
	return e.pipe.Close()
}

// startExport returns when the first rows are there, or with the fault that kept them away.
func startExport(ctx context.Context, reader *stats.Reader, q stats.CallsQuery) (*export, error) {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	out, in := io.Pipe()
	go func() { _ = in.CloseWithError(writeCSV(ctx, in, reader, q)) }()
	e := &export{bufio.NewReader(out), out, cancel}
	if _, err := e.Peek(1); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

func writeCSV(ctx context.Context, to io.Writer, reader *stats.Reader, q stats.CallsQuery) error {
	w := csv.NewWriter(to)
	if err := w.Write(exportHeader); err != nil { // stays in w's buffer until there are rows
		return err
	}
	line := make([]string, len(exportHeader))
	err := reader.Walk(ctx, q, func(c stats.Call) error {
		firstByte := ""
		if c.FirstByteMs != nil {
			firstByte = strconv.FormatUint(uint64(*c.FirstByteMs), 10)
		}
		line = append(line[:0], c.CallID.String(), c.StartTime, c.Model, strconv.FormatBool(c.Success),
			strconv.FormatUint(uint64(c.StatusCode), 10), strconv.FormatUint(uint64(c.DurationMs), 10),
			c.EndedBy, strconv.FormatBool(c.Streamed), firstByte)
		return w.Write(line)
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}
