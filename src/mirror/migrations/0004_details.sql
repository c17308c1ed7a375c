-- When the detail of a task was last in step with the list, and what is owed since when.
ALTER TABLE tasks ADD COLUMN detail_at INTEGER; -- start of the read of a detail that agrees with the item as the list gave it last, or is newer (NULL while there is none)
ALTER TABLE open_checks ADD COLUMN listed TEXT; -- the task as the list showed it, which the detail has to agree with (NULL where that is the row itself)
ALTER TABLE open_checks ADD COLUMN owed_at INTEGER; -- since when it is owed (NULL where version 0.1.0 noted it)
