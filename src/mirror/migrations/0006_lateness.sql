-- Lateness, as far as it can be told: what timeframe means is not documented. Where probe has found that it reads as a moment
-- (service_facts, key timeframe), the overview says how late tasks are by it.
DROP VIEW task_overview;

-- Tasks for people, tombstones included: ISO-8601 UTC times, duration, host of the URL.
CREATE VIEW task_overview AS
SELECT
  id, -- the service's identifier
  user_id, -- userId
  system_status, -- systemStatus, such as DONE
  data_method AS method, -- HTTP method of the request
  data_url AS url, -- target of the request
  host, -- host of the URL by the WHATWG parser, in lower case, with a port that is not the scheme's own; NULL where there is none
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
  strftime('%Y-%m-%dT%H:%M:%S', deleted_at / 1000, 'unixepoch') || printf('.%03dZ', deleted_at % 1000) AS deleted_at, -- when the service was proven to have deleted the task, ISO-8601
  change_seq, -- grows with every change of any row: ORDER BY change_seq DESC shows quickly what changed last
  created_at AS created_at_ms, -- createdAt, epoch ms: filters by it use an index
  CASE WHEN timeframe BETWEEN -62135596800000 AND 253402300799999 AND (SELECT json_extract(value, '$.isMoment') FROM service_facts WHERE key = 'timeframe')
    THEN strftime('%Y-%m-%dT%H:%M:%S', timeframe / 1000 - (timeframe % 1000 < 0), 'unixepoch') || printf('.%03dZ', ((timeframe % 1000) + 1000) % 1000) END AS timeframe_at, -- timeframe as a moment, ISO-8601, inferred: NULL until probe has found that it reads as one
  CASE WHEN (SELECT json_extract(value, '$.isMoment') FROM service_facts WHERE key = 'timeframe') THEN
    CASE WHEN completed_at IS NOT NULL THEN completed_at - timeframe
      WHEN deleted_at IS NULL AND NOT coalesce(system_status IN (SELECT value FROM json_each(
        coalesce((SELECT value FROM service_facts WHERE key = 'final_statuses'), '["DONE"]'))), 0)
      THEN CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - timeframe END END AS late_ms -- inferred likewise: from timeframe to completedAt, of open tasks until now, ms; negative where it is sooner, NULL for final tasks without completedAt
FROM tasks;

-- Live open tasks past their timeframe, most late first. Inferred: empty until probe has found that timeframe reads as a moment.
CREATE VIEW late_tasks AS
SELECT
  o.id, -- the service's identifier
  o.system_status, -- systemStatus
  o.method, -- HTTP method of the request
  o.url, -- target of the request
  o.host, -- host of the URL
  o.created_at, -- createdAt, ISO-8601
  o.timeframe_at, -- timeframe as a moment, ISO-8601, inferred
  o.late_ms -- from timeframe until now, ms, inferred
FROM open_checks c JOIN task_overview o ON o.id = c.task_id
WHERE c.reason = 'open' AND NOT o.is_deleted AND o.late_ms > 0
ORDER BY o.late_ms DESC;
