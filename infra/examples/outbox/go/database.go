package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald.example/relay/publish"
)

// patience is how long a statement may take. A connection that hangs is given up then.
const patience = 10 * time.Second

// row is a claimed row. Its body is not read if SQS would not take it.
type row struct {
	seq      int64
	message  publish.Message
	large    bool
	failures int
}

// database is a connection. No transaction of it lasts longer than one statement.
type database struct{ conn *pgx.Conn }

// open connects, and listens for what is written.
func open(ctx context.Context, url string, listen bool) (*database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading DATABASE_URL: %w", err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // prepares nothing, as PgBouncer wants it
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	db := &database{conn}
	if listen {
		if _, err := conn.Exec(ctx, "LISTEN outbox"); err != nil {
			db.close()
			return nil, fmt.Errorf("listening: %w", err)
		}
	}
	return db, nil
}

func (db *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = db.conn.Close(ctx) // the connection is of no more use either way
}

// wait returns at a NOTIFY, after a time, or at the end of the context.
func (db *database) wait(ctx context.Context, longest time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	_, err := db.conn.WaitForNotification(waiting)
	if err != nil && waiting.Err() == nil {
		return fmt.Errorf("waiting for a NOTIFY: %w", err)
	}
	return nil
}

// claim takes the oldest rows that no living relay has. No lease lasts for ten minutes: if one seems to, the clock was
// set back.
func (db *database) claim(ctx context.Context, most int, lease time.Duration) ([]row, error) {
	const sql = `WITH due AS MATERIALIZED (
	SELECT seq FROM outbox WHERE leased_until NOT BETWEEN now() AND now() + interval '10 minutes'
	ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET leased_until = now() + $2::bigint * interval '1 ms' FROM due WHERE outbox.seq = due.seq
RETURNING outbox.seq, left(tenant_id, 129), left(coalesce(traceparent, ''), 129), octet_length(body) > 262144,
	CASE WHEN octet_length(body) <= 262144 THEN body ELSE '' END, failures`
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := db.conn.Query(ctx, sql, most, lease.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("claiming: %w", err)
	}
	rows, err := pgx.CollectRows(found, func(r pgx.CollectableRow) (row, error) {
		var one row
		m := &one.message
		err := r.Scan(&one.seq, &m.TenantID, &m.Traceparent, &one.large, &m.Body, &one.failures)
		return one, err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming: %w", err)
	}
	return rows, nil
}

// outcome is what became of rows.
type outcome struct {
	sent, released   []int64
	refused, delayed []int64
	reasons          []string
	failures         []int // to be added to those of delayed rows
}

func (o *outcome) refuse(one row, reason string) {
	o.refused = append(o.refused, one.seq)
	o.reasons = append(o.reasons, reason)
}

func (o *outcome) delay(one row, failures int) {
	o.delayed = append(o.delayed, one.seq)
	o.failures = append(o.failures, failures)
}

func (o *outcome) release(one row) { o.released = append(o.released, one.seq) }

// settle stores an outcome. What was sent goes first and by itself, so that nothing of the rest has it sent again.
func (db *database) settle(ctx context.Context, o outcome) error {
	const refused = `WITH gone AS (
	DELETE FROM outbox USING unnest($1::bigint[], $2::text[]) AS refused (number, reason) WHERE seq = number
	RETURNING seq, tenant_id, subject, body, traceparent, written_at, reason
)
INSERT INTO outbox_refused (seq, tenant_id, subject, body, traceparent, written_at, reason) SELECT * FROM gone`
	const delayed = `UPDATE outbox SET failures = failures + added,
	leased_until = now() + least(power(2, failures), 300) * interval '1 s'
FROM unnest($1::bigint[], $2::integer[]) AS delayed (number, added) WHERE seq = number`
	for _, one := range []struct {
		rows []int64
		sql  string
		with []any
	}{
		{o.sent, `DELETE FROM outbox WHERE seq = ANY($1::bigint[])`, []any{o.sent}},
		{o.released, `UPDATE outbox SET leased_until = '-infinity' WHERE seq = ANY($1::bigint[])`, []any{o.released}},
		{o.delayed, delayed, []any{o.delayed, o.failures}},
		{o.refused, refused, []any{o.refused, o.reasons}},
	} {
		if len(one.rows) == 0 {
			continue
		}
		if err := db.exec(ctx, one.sql, one.with...); err != nil {
			return fmt.Errorf("settling: %w", err)
		}
	}
	return nil
}

func (db *database) exec(ctx context.Context, sql string, with ...any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := db.conn.Exec(ctx, sql, with...)
	return err
}

// waiting is what waits in the tables, up to a number, and the age of its oldest row.
type waiting struct {
	rows, refused int64
	oldest        float64 // seconds
}

// measure returns what waits, and lets services write as many more rows as may wait, or be set aside.
func (db *database) measure(ctx context.Context, most int64) (w waiting, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const sql = `SELECT (SELECT count(*) FROM (SELECT FROM outbox LIMIT $1) AS waiting),
	(SELECT count(*) FROM (SELECT FROM outbox_refused LIMIT $1) AS refused),
	coalesce((SELECT extract(epoch FROM clock_timestamp() - written_at) FROM outbox ORDER BY seq LIMIT 1), 0)::float8`
	if err = db.conn.QueryRow(ctx, sql, most).Scan(&w.rows, &w.refused, &w.oldest); err != nil {
		return w, fmt.Errorf("measuring: %w", err)
	}
	const bound = `UPDATE outbox_bound SET upto = (SELECT last_value FROM outbox_seq_seq) + $1`
	if _, err = db.conn.Exec(ctx, bound, most-w.rows-w.refused); err != nil {
		return w, fmt.Errorf("raising the bound: %w", err)
	}
	return w, nil
}
