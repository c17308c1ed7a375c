// `sync`: one run by the cheapest plan, meant for cron.
import type { CommandSpec } from './shared/command.ts'
import { RUN_FLAGS, type RunFlags, runAndPrint } from './shared/run-sync.ts'

interface SyncFlags extends RunFlags {
  full?: true
  dryRun?: true
  allowMassDelete?: true
}

export const sync: CommandSpec<SyncFlags> = {
  name: 'sync',
  summary: 'bring the mirror up to date: read what is new or open, once a day the whole list',
  examples: [
    'task-mirror sync --base-url https://tasks.example.com',
    'task-mirror sync --full --max-duration 50m',
    'task-mirror sync --json | jq .inserted',
  ],
  flags: [
    { flags: '--full', description: 'read the whole list, which also finds deletions' },
    {
      flags: '--details <when>',
      description: 'ask for tasks by id: auto (where the list does not show them whole), always or never',
      choices: ['auto', 'always', 'never'],
      key: 'sync.details',
    },
    { flags: '--dry-run', description: 'report what would change and write nothing' },
    { flags: '--allow-mass-delete', description: 'allow deletions beyond sync.massDeleteFraction' },
    ...RUN_FLAGS,
  ],
  run: (context, flags) =>
    runAndPrint(context, flags, {
      command: 'sync',
      full: flags.full === true,
      dryRun: flags.dryRun === true,
      allowMassDelete: flags.allowMassDelete === true,
    }),
}
