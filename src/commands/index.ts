// All commands, in the order of the help text and of docs/commands.md.
import { backfill } from './backfill.ts'
import { completionOf } from './completion.ts'
import { config } from './config-show.ts'
import { copy } from './copy.ts'
import { datasetteConfig } from './datasette-config.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { exporting } from './export.ts'
import { get } from './get.ts'
import { probe } from './probe.ts'
import { prune } from './prune.ts'
import { rejected } from './rejected.ts'
import { report } from './report.ts'
import { restore } from './restore.ts'
import { schedule } from './schedule.ts'
import type { AnyCommand, CommandGroup } from './shared/command.ts'
import { simulate } from './simulate.ts'
import { status } from './status.ts'
import { sync } from './sync.ts'
import { verify } from './verify.ts'

/** All commands, by the headings of the help text. */
export const COMMANDS_BY_HEADING: Readonly<Record<string, readonly (AnyCommand | CommandGroup)[]>> = {
  'Keep a mirror:': [sync, backfill, schedule, get],
  'See how it is:': [status, doctor, verify, rejected, report],
  'Publish and back up:': [exporting, copy, restore, prune, datasetteConfig],
  'Try and set up:': [demo, simulate, probe, config, completionOf(() => COMMANDS)],
}

export const COMMANDS: readonly (AnyCommand | CommandGroup)[] = Object.values(COMMANDS_BY_HEADING).flat()
