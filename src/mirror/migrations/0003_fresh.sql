-- How old the answers of a walk were, where they came from a cache on the way.

ALTER TABLE walks ADD COLUMN fresh_at INTEGER; -- as of when its oldest answer was made, where that is earlier than started_at (NULL where nothing shows that)
