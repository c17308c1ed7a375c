// `status`: shows what the mirror holds and how fresh it is; with --max-age it is a health check.
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ageOf } from '../clock.ts'
import { parseDuration } from '../config/duration.ts'
import { EXIT } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const status: CommandSpec<{ maxAge?: number }> = {
  name: 'status',
  summary: 'say what the mirror holds and how fresh it is',
  examples: ['task-mirror status', 'task-mirror status --max-age 15m || echo "the mirror is stale"'],
  flags: [
    {
      flags: '--max-age <duration>',
      description: 'exit 3 when the mirror is older, such as 15m',
      parse: parseDuration,
    },
  ],
  async run(context, { maxAge }) {
    const { withReader } = await import('../mirror/open.ts')
    const { readStatus } = await import('../mirror/shown/status.ts')
    const { publications } = await import('../mirror/tables/snapshots.ts')
    const { diskUse } = await import('../export/publish/disk-use.ts')
    const { roomIn } = await import('../doctor/machine.ts')
    const { statusText } = await import('./text/status.ts')
    const { config } = await context.config()
    const { path } = config.mirror
    const { found, published } = withReader(path, (db) => ({
      found: readStatus(db),
      published: diskUse(publications(db)),
    }))
    const mirrorBytes = statSync(path).size
    const disk = {
      mirrorBytes,
      walBytes: found.walBytes,
      snapshotBytes: published.bytes,
      freeBytes: roomIn(dirname(path), mirrorBytes)?.freeBytes ?? null,
    }
    const now = context.now()
    const { settleMs } = config.sync
    const ageMs = ageOf(found.freshAt, now, settleMs)
    const stale = maxAge !== undefined && (ageMs === null || ageMs > maxAge)
    await context.print(
      context.json
        ? { schemaVersion: 1, path, ageMs, stale, ...found, published, disk }
        : statusText({
            path,
            ageMs,
            maxAge: maxAge ?? null,
            stale,
            found,
            now,
            settleMs,
            published,
            disk,
            width: context.columns,
          }),
    )
    return stale ? EXIT.partial : EXIT.done
  },
}
