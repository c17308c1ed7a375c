// Debian's cron in namespaces of its own: it finds no other crontab there, and the machine's cron does not find these.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeScratch } from './scratch.ts'

/** Why cron cannot be run here; null where it can. */
export const cronMissing = missing()

function missing(): string | null {
  if (process.getuid?.() !== 0) return 'only root can start cron'
  if (!existsSync('/usr/sbin/cron')) return "Debian's cron is not installed"
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true'])
  return status === 0 ? null : 'namespaces are not allowed here'
}

const PRIVATELY = `set -e
for folder in /var/spool/cron /etc/cron.d /run; do mount -t tmpfs none "$folder"; done
mount --bind /dev/null /etc/crontab
install -d -m 1730 -g crontab /var/spool/cron/crontabs
crontab "$1"
exec cron -f`

/** The crontabs of docs/install.md, in their order. */
export function crontabsOf(page: string): string[] {
  return [...page.matchAll(/^```crontab\n([\s\S]*?)^```$/gm)].map(([, crontab]) => crontab!)
}

/**
 * Runs the one line of `crontab` as root, and gives its exit code and what it printed. A line with @reboot, which cron runs when it
 * starts, has the environment of any other.
 */
export async function runByCron(crontab: string): Promise<{ code: number; printed: string }> {
  using scratch = makeScratch()
  const [printed, ended] = [scratch.path('printed'), scratch.path('ended')]
  const wrapped = crontab.replace(/^\*\/5 \* \* \* \* (.*)$/m, `@reboot { $1; } >${printed} 2>&1; echo $? >${ended}`)
  if (wrapped === crontab) throw new Error(`No line of every five minutes: ${crontab}`)
  writeFileSync(scratch.path('crontab'), wrapped)
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child=KILL']
  const cron = spawn('unshare', [...namespaces, 'bash', '-c', PRIVATELY, 'cron', scratch.path('crontab')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const gone = once(cron, 'exit')
  while (!existsSync(ended) || readFileSync(ended, 'utf8') === '') {
    if (cron.exitCode !== null) throw new Error('cron did not start')
    await sleep(20)
  }
  cron.kill('SIGKILL')
  await gone
  return { code: Number(readFileSync(ended, 'utf8')), printed: readFileSync(printed, 'utf8') }
}
