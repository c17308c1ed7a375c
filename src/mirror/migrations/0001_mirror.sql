-- Public tables and views are a contract: add, never rename. The comments here become docs/schema.md: the lines before a
-- table or view, and what stands behind each column.
-- Times are epoch milliseconds unless a name says otherwise.

-- One row per task of the account, tombstones included.
CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,        -- row number in this mirror; walks keep their marks by it
  id TEXT NOT NULL UNIQUE,        -- the service's identifier, compared byte for byte
  user_id TEXT,                   -- userId
  system_status TEXT,             -- systemStatus, such as DONE
  accuracy TEXT,                  -- accuracy, such as MINUTE
  timeframe INTEGER,              -- timeframe as sent; its unit is not documented by the service
  created_at INTEGER,             -- createdAt as sent (ms)
  completed_at INTEGER,           -- completedAt as sent (ms)
  data_method TEXT,               -- data.method: HTTP method of the request
  data_url TEXT,                  -- data.url: target of the request
  data_body TEXT,                 -- data.body: request body text
  data_header TEXT,               -- data.header as JSON text
  result_status_code INTEGER,     -- result.statusCode: HTTP status of the response
  result_status_text TEXT,        -- result.statusText
  result_header TEXT,             -- result.header as JSON text
  result_body TEXT,               -- result.body as JSON text, digits as sent
  extra TEXT,                     -- JSON laid over the columns: only what they cannot hold (unknown fields, unexpected types, nulls, odd numbers); NULL for an ordinary task
  first_seen_at INTEGER NOT NULL, -- when this mirror first took the task in
  changed_at INTEGER NOT NULL,    -- when this row last changed
  deleted_at INTEGER,             -- when the service was proven to have deleted the task; NULL while it lives
  read_at INTEGER NOT NULL,       -- start of the read that brought the present content, the deletion or the return; an older read never replaces it
  content_hash BLOB,              -- over all columns of the task and extra
  list_hash BLOB,                 -- over the item as the list last gave it
  change_seq INTEGER NOT NULL     -- grows with every change of any row, never reused
) STRICT;

CREATE INDEX tasks_created_at ON tasks (created_at, id);
CREATE INDEX tasks_change_seq ON tasks (change_seq);
CREATE INDEX tasks_deleted_at ON tasks (deleted_at) WHERE deleted_at IS NOT NULL;

-- One row per run: an execution of a command that talks to the service. The last 10,000 are kept.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- runId of the output
  command TEXT NOT NULL,          -- sync, backfill, get, probe, rejected or verify
  plan TEXT,                      -- JSON: what the run set out to do
  outcome TEXT,                   -- ok, partial, failed or interrupted; NULL while running, or when killed
  verdict TEXT,                   -- complete or partial: what its walks proved
  requests INTEGER NOT NULL DEFAULT 0,   -- requests sent, retries included
  retries INTEGER NOT NULL DEFAULT 0,    -- of these, repeated ones
  windows INTEGER NOT NULL DEFAULT 0,    -- windows committed
  details INTEGER NOT NULL DEFAULT 0,    -- details asked for
  seen INTEGER NOT NULL DEFAULT 0,       -- items met, each once per run
  inserted INTEGER NOT NULL DEFAULT 0,   -- new tasks
  updated INTEGER NOT NULL DEFAULT 0,    -- changed tasks
  unchanged INTEGER NOT NULL DEFAULT 0,  -- tasks met with the content the mirror had
  deleted INTEGER NOT NULL DEFAULT 0,    -- tombstones made
  restored INTEGER NOT NULL DEFAULT 0,   -- tombstones taken back
  rejected INTEGER NOT NULL DEFAULT 0,   -- items newly set aside
  drift INTEGER NOT NULL DEFAULT 0,      -- differences found at seams
  bytes INTEGER NOT NULL DEFAULT 0,      -- bytes of answers after decompression
  waited_ms INTEGER NOT NULL DEFAULT 0,  -- waiting that the service asked for, and back-off
  started_at INTEGER NOT NULL,    -- when it began
  finished_at INTEGER,            -- when it ended; NULL while running, or when killed
  exit_code INTEGER,              -- the exit code it stands for; NULL while running, or when killed
  error TEXT,                     -- JSON {code, message} of what ended the run early
  tool_version TEXT NOT NULL      -- version of task-mirror
) STRICT;

-- One row per walk: a chain of windows joined by verified seams. The last 10,000 are kept, and the last complete full one.
CREATE TABLE walks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- number of the walk
  run_id INTEGER NOT NULL,        -- the run that began it; a resumed walk may end in a later run
  kind TEXT NOT NULL,             -- full, head, tail or range
  range_since INTEGER,            -- lower bound of createdAt (inclusive); NULL where there is none
  range_until INTEGER,            -- upper bound of createdAt (exclusive); NULL where there is none
  next_skip INTEGER NOT NULL DEFAULT 0, -- index behind the last committed window
  windows INTEGER NOT NULL DEFAULT 0, -- windows committed
  met INTEGER NOT NULL DEFAULT 0, -- distinct tasks met
  drift INTEGER NOT NULL DEFAULT 0, -- differences found at seams
  ordering TEXT,                  -- the order its own pairs show: created_desc, created_asc, id_asc, id_desc or none
  verdict TEXT,                   -- complete or partial; NULL while open
  reason TEXT,                    -- why it is partial, a stable code
  state TEXT,                     -- JSON the walk resumes from
  first_window TEXT,              -- JSON: ids and createdAt of its first window, for the closing lap
  max_seq_at_start INTEGER NOT NULL, -- highest seq when it began: only rows up to it can be deletion candidates
  started_at INTEGER NOT NULL,    -- when its first run began it, or the walk before it that its verdict rests on, too
  updated_at INTEGER NOT NULL,    -- when it last committed a window, or ended
  finished_at INTEGER             -- when it ended; NULL while open, or when cut off
) STRICT;

-- Which rows a walk has met, written in the window's transaction.
CREATE TABLE walk_marks (
  walk_id INTEGER NOT NULL,       -- the walk
  chunk INTEGER NOT NULL,         -- seq / 8192
  bits BLOB NOT NULL,             -- 1,024 bytes: bit (seq % 8192), least significant first
  PRIMARY KEY (walk_id, chunk)
) STRICT, WITHOUT ROWID;

-- What could not be taken in, with its raw text and the reason; `rejected --replay` tries it again.
CREATE TABLE rejected_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- number of the item
  run_id INTEGER,                 -- the run that first met it
  source TEXT NOT NULL,           -- list or detail
  skip INTEGER,                   -- its index in the list when it was met
  task_id TEXT,                   -- where it has a usable id
  reason TEXT NOT NULL,           -- stable code: not-an-object, no-id, id-too-long, id-malformed, too-deep, too-many-values, unreadable, other-id, other-identity
  message TEXT NOT NULL,          -- the reason in words
  raw TEXT NOT NULL,              -- as sent; empty where nothing could be read
  raw_hash BLOB NOT NULL,         -- recognises the same item in later runs
  seen_at INTEGER NOT NULL,       -- when it was last met
  replayed_at INTEGER             -- when it was taken in after all, or a later complete full walk met its task whole or, where it has no id at all, did not meet it; NULL while set aside
) STRICT;

CREATE UNIQUE INDEX rejected_items_raw_hash ON rejected_items (raw_hash);
CREATE INDEX rejected_items_task_id ON rejected_items (task_id) WHERE task_id IS NOT NULL;

-- What is still owed: open tasks to ask again, details, deletion candidates; tombstones that were asked for again; and what look-ups have brought that the list has not shown yet.
CREATE TABLE open_checks (
  task_id TEXT NOT NULL,          -- id of the task
  reason TEXT NOT NULL,           -- open, detail, candidate, unlisted or deleted
  checked_at INTEGER,             -- last asked by id; NULL: never
  next_check_at INTEGER NOT NULL, -- not before then
  attempts INTEGER NOT NULL DEFAULT 0, -- times asked without settling it
  last_error TEXT,                -- what the last attempt was answered with
  PRIMARY KEY (task_id, reason)
) STRICT, WITHOUT ROWID;

CREATE INDEX open_checks_next ON open_checks (reason, next_check_at);

-- What has been learned of the service.
CREATE TABLE service_facts (
  key TEXT PRIMARY KEY,           -- base_url, key_fingerprint, order, page_cap, total, frontier, not_before, probe, ...
  value TEXT NOT NULL,            -- JSON
  observed_at INTEGER NOT NULL    -- when it was last stored
) STRICT, WITHOUT ROWID;

-- One row per published snapshot.
CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,            -- name of the snapshot
  cut INTEGER NOT NULL,           -- highest change_seq in it
  path TEXT NOT NULL,             -- where it was published
  format TEXT NOT NULL,           -- as --format names it, such as parquet
  files INTEGER NOT NULL,         -- data files
  rows INTEGER NOT NULL,          -- tasks in them
  bytes INTEGER NOT NULL,         -- their size
  filters TEXT NOT NULL,          -- JSON: the filters of the publication; a feed goes on from the last one with the same filters
  since_seq INTEGER,              -- for a feed: only rows with a greater change_seq; NULL for a full snapshot
  published_at INTEGER NOT NULL   -- when it was published
) STRICT;

-- Live tasks: no tombstones. The columns are those of tasks.
CREATE VIEW live_tasks AS SELECT * FROM tasks WHERE deleted_at IS NULL;

-- Tasks for people, tombstones included: ISO-8601 UTC times, duration, host of the URL.
CREATE VIEW task_overview AS
SELECT
  id, -- the service's identifier
  user_id, -- userId
  system_status, -- systemStatus, such as DONE
  data_method AS method, -- HTTP method of the request
  data_url AS url, -- target of the request
  -- between '://' and the next '/', '?' or '#', without user and password
  CASE WHEN instr(data_url, '://') > 0 THEN (
    WITH rest(r) AS (SELECT substr(data_url, instr(data_url, '://') + 3)),
    auth(a) AS (SELECT substr(r, 1, min(
      instr(r || '/', '/'), instr(r || '?', '?'), instr(r || '#', '#')) - 1) FROM rest)
    SELECT lower(CASE WHEN instr(a, '@') > 0 THEN substr(a, instr(a, '@') + 1) ELSE a END) FROM auth
  ) END AS host, -- host and port of the URL, in lower case; NULL where there is none
  result_status_code, -- HTTP status of the response
  result_status_text, -- HTTP status text of the response
  CASE WHEN created_at BETWEEN -62135596800000 AND 253402300799999 THEN strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000 - (created_at % 1000 < 0), 'unixepoch')
    || printf('.%03dZ', ((created_at % 1000) + 1000) % 1000) END AS created_at, -- createdAt, ISO-8601; NULL outside of the years 0001 to 9999
  CASE WHEN completed_at BETWEEN -62135596800000 AND 253402300799999 THEN strftime('%Y-%m-%dT%H:%M:%S', completed_at / 1000 - (completed_at % 1000 < 0), 'unixepoch')
    || printf('.%03dZ', ((completed_at % 1000) + 1000) % 1000) END AS completed_at, -- completedAt, likewise
  completed_at - created_at AS duration_ms, -- from createdAt to completedAt, ms
  completed_at IS NOT NULL OR system_status IN (SELECT value FROM json_each(
    coalesce((SELECT value FROM service_facts WHERE key = 'final_statuses'), '["DONE"]'))) AS is_final, -- 1 where completedAt is present or the status is one of sync.finalStatuses
  deleted_at IS NOT NULL AS is_deleted, -- 1 for a tombstone
  strftime('%Y-%m-%dT%H:%M:%S', first_seen_at / 1000, 'unixepoch') || printf('.%03dZ', first_seen_at % 1000) AS first_seen_at, -- when this mirror first took the task in, ISO-8601
  strftime('%Y-%m-%dT%H:%M:%S', changed_at / 1000, 'unixepoch') || printf('.%03dZ', changed_at % 1000) AS changed_at, -- when the row last changed, ISO-8601
  strftime('%Y-%m-%dT%H:%M:%S', deleted_at / 1000, 'unixepoch') || printf('.%03dZ', deleted_at % 1000) AS deleted_at -- when the service was proven to have deleted the task, ISO-8601
FROM tasks;

-- Live tasks per UTC day of createdAt and status code of the result.
CREATE VIEW daily_outcomes AS
SELECT
  date(created_at / 1000 - (created_at % 1000 < 0), 'unixepoch') AS day, -- UTC day of createdAt
  system_status, -- systemStatus
  result_status_code, -- HTTP status of the response
  count(*) AS tasks, -- live tasks
  round(avg(completed_at - created_at)) AS mean_duration_ms -- mean time from createdAt to completedAt, ms
FROM live_tasks
GROUP BY 1, 2, 3;

-- Live tasks per host of the URL: how many, how many answered with 400 or more.
CREATE VIEW host_outcomes AS
SELECT
  host, -- host and port of the URL
  count(*) AS tasks, -- live tasks
  sum(is_final) AS final_tasks, -- of these, final ones
  sum(coalesce(result_status_code >= 400, 0)) AS failures, -- of these, answered with 400 or more
  round(avg(duration_ms)) AS mean_duration_ms -- mean time from createdAt to completedAt, ms
FROM task_overview
WHERE NOT is_deleted
GROUP BY host;
