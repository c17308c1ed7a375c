// All commands, in the order of the help text.
import type { AnyCommand, CommandGroup } from './command.ts'
import { config } from './config-show.ts'

export const COMMANDS: readonly (AnyCommand | CommandGroup)[] = [config]
