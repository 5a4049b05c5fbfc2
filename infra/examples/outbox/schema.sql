-- The outbox of Herald's events. Run it once:
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f schema.sql
--
-- A service inserts the encoded message in the transaction of the change that it reports:
--
--   INSERT INTO outbox (tenant_id, subject, body) VALUES ('tenant_acme', 'user_1', '{"id": "evt_1", …}');
BEGIN;

-- Claims change no column that an index has, and pages have room for the new version of a row. So a claim adds nothing
-- to the index, and autovacuum is told to come by the number of rows that went, not by their share.
CREATE TABLE outbox (
  seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id    text NOT NULL,
  subject      text, -- whom the event is about, for erasure
  body         text NOT NULL, -- with an id; never jsonb, which would change its bytes
  traceparent  text,
  written_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  leased_until timestamptz NOT NULL DEFAULT '-infinity', -- by a relay, which is dead if this is past
  failures     integer NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Rows that SQS does not take, until someone mends or deletes them. This sends a mended row again:
--
--   WITH m AS (DELETE FROM outbox_refused WHERE seq = 7 RETURNING *)
--   INSERT INTO outbox (tenant_id, subject, body, traceparent) SELECT tenant_id, subject, body, traceparent FROM m;
CREATE TABLE outbox_refused (
  seq         bigint PRIMARY KEY,
  tenant_id   text NOT NULL,
  subject     text,
  body        text NOT NULL,
  traceparent text,
  written_at  timestamptz NOT NULL,
  refused_at  timestamptz NOT NULL DEFAULT now(),
  reason      text NOT NULL
);

-- The last seq that may be written. Relays raise it, so it stops a service whose relays are all dead before its disk is
-- full.
CREATE TABLE outbox_bound (upto bigint NOT NULL);
INSERT INTO outbox_bound VALUES (1000000);

CREATE FUNCTION outbox_written() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF (SELECT max(seq) FROM written) > (SELECT upto FROM outbox_bound) THEN
    RAISE EXCEPTION 'the outbox is full: does a relay run?' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  NOTIFY outbox;
  RETURN NULL;
END $$;

CREATE TRIGGER outbox_written AFTER INSERT ON outbox REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION outbox_written();

COMMIT;

-- With roles of their own, services cannot change what they wrote, and relays cannot write events:
--
--   GRANT INSERT (tenant_id, subject, body, traceparent) ON outbox TO service; GRANT SELECT ON outbox_bound TO service;
--   GRANT SELECT, UPDATE (leased_until, failures), DELETE ON outbox TO relay;
--   GRANT INSERT, SELECT ON outbox_refused TO relay; GRANT SELECT, UPDATE ON outbox_bound TO relay;
--   GRANT SELECT ON SEQUENCE outbox_seq_seq TO relay;
