// What a run needs to talk to the service, from the configuration and the environment.
import { checkTarget } from '../../config/target.ts'
import type { RunContext } from '../../sync/context.ts'
import type { CommandContext } from './command.ts'

/** Throws `config-invalid` where the configuration forbids talking to the service; nothing has been sent by then. */
export async function serviceContext(context: CommandContext): Promise<RunContext> {
  const { config } = await context.config()
  const { key } = await context.apiKey()
  checkTarget(config, key)
  const { log, progress, signal, now, random } = context
  if (key === null && config.service.auth.placement !== 'none') {
    log.info({}, 'No API key is set: requests are sent without one')
  }
  return { config, apiKey: key, log, progress, signal, now, random }
}
