// A mirror as another program changes it: with SQLite alone, on a connection of its own.
import Database from 'better-sqlite3'

/** `change`: statements, or what is done on the connection, which is closed afterwards. */
export function changeMirror(path: string, change: string | ((db: Database.Database) => void)): void {
  const db = new Database(path)
  try {
    if (typeof change === 'string') db.exec(change)
    else change(db)
  } finally {
    db.close()
  }
}
