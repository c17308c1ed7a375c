// What is deployed: the files for Docker, Kubernetes and systemd parse, fit their schemas and agree with the program.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Cron } from 'croner'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { COMMANDS } from '../src/commands/index.ts'
import { environmentName, KEYS } from '../src/config/keys.ts'
import { EXIT } from '../src/errors.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const commands = COMMANDS.map(({ name }) => name)
const documents = (name: string) => parseAllDocuments(read(name)).map((document) => document.toJS())

describe.each([
  ['deploy/cronjob.yaml', 1],
  ['deploy/backfill-job.yaml', 0],
])('%s', (name, index) => {
  const all = documents(name)
  const job = all[index]
  const jobSpec = job.kind === 'CronJob' ? job.spec.jobTemplate.spec : job.spec
  const pod = jobSpec.template.spec
  const [container] = pod.containers

  test('fits the schemas of Kubernetes', () => {
    for (const document of all) {
      const kinds = { CronJob, Job, PersistentVolumeClaim }
      const Kind = kinds[document.kind as keyof typeof kinds]
      expect(() => new Kind(document).validate()).not.toThrow()
    }
  })

  test('runs a command of the program, not as root, on a file system it cannot write', () => {
    expect(commands).toContain(container.args[0])
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    expect(container.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' })
  })

  test('has the key from a file, never from the environment', () => {
    const names = container.env.map(({ name }: { name: string }) => name)
    expect(names).toContain('TASK_MIRROR_API_KEY_FILE')
    expect(names).not.toContain('TASK_MIRROR_API_KEY')
  })

  test('does not try again what trying again cannot change', () => {
    expect(pod.restartPolicy).toBe('Never')
    const { onExitCodes, action } = jobSpec.podFailurePolicy.rules[1]
    expect(action).toBe('FailJob')
    const known = Object.values(EXIT) as number[]
    for (const code of onExitCodes.values) expect(known).toContain(code)
    expect(onExitCodes.values).toEqual(expect.arrayContaining([EXIT.usage, EXIT.keyRefused, EXIT.mirror]))
    for (const code of [EXIT.service, EXIT.sigterm]) expect(onExitCodes.values).not.toContain(code)
  })

  test('gives a run more time to stop than it takes', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(5)
  })
})

test('the cron job never runs beside itself, and its schedule can be read', () => {
  const { spec } = documents('deploy/cronjob.yaml')[1]
  expect(spec).toMatchObject({ concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 200 })
  expect(new Cron(spec.schedule, { paused: true, timezone: spec.timeZone }).nextRun()).not.toBeNull()
})

describe('deploy/compose.yaml', () => {
  const { services, secrets, volumes } = parse(read('deploy/compose.yaml'))

  test('names only environment variables, volumes and secrets that exist', () => {
    const variables = new Set([...KEYS.map(environmentName), 'TASK_MIRROR_BASE_URL', 'TASK_MIRROR_API_KEY_FILE'])
    for (const name of Object.keys(services.worker.environment)) expect(variables).toContain(name)
    for (const service of Object.values(services) as { volumes: string[] }[]) {
      for (const volume of service.volumes) expect(volumes).toHaveProperty(volume.split(':')[0] as string)
    }
    for (const secret of services.worker.secrets) expect(secrets).toHaveProperty(secret)
  })

  test('runs the scheduler on schedules that can be read, reachable from this machine only', () => {
    const { worker, datasette } = services
    expect(commands).toContain(worker.command[0])
    for (const name of ['SYNC', 'EXPORT']) {
      expect(new Cron(worker.environment[`TASK_MIRROR_SCHEDULE_${name}`], { paused: true }).nextRun()).not.toBeNull()
    }
    for (const port of [...worker.ports, ...datasette.ports]) expect(port).toMatch(/^127\.0\.0\.1:/)
    expect(worker.read_only).toBe(true)
  })
})

describe('Dockerfile', () => {
  const text = read('Dockerfile')
  const stages = text.split(/^FROM /m).slice(1)

  test('the stage that runs holds nothing that compiles, and is not root', () => {
    expect(stages).toHaveLength(2)
    expect(stages[1]).toMatch(/^node:24-bookworm-slim\n/)
    expect(stages[1]).not.toMatch(/npm|apt-get|tsc/)
    expect(stages[1]).toMatch(/^USER 1000:0$/m)
    expect(stages[1]).toMatch(/^VOLUME \/data$/m)
    expect(stages[1]).toMatch(/^ENTRYPOINT \["node", "\/app\/dist\/cli\.js"\]\nCMD \["sync"\]$/m)
  })

  test('sets only variables that exist', () => {
    const variables = new Set(KEYS.map(environmentName))
    for (const [name] of text.matchAll(/TASK_MIRROR_\w+/g)) expect(variables).toContain(name)
  })

  test('what it copies is let in by .dockerignore, and nothing else', () => {
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names?.split(' ') ?? [])
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name)
    expect([...new Set(copied)].sort()).toEqual(allowed.sort())
    for (const name of copied) expect(existsSync(join(ROOT, name)), name).toBe(true)
  })
})

describe('deploy/systemd', () => {
  const folder = join(ROOT, 'deploy/systemd')
  const units = readdirSync(folder)

  test.each(units)('%s runs a command of the program with the key from a credential', (name) => {
    const text = read(`deploy/systemd/${name}`)
    if (name.endsWith('.timer')) {
      expect(units).toContain(name.replace('.timer', '.service'))
      expect(text).toContain('Persistent=yes')
      return
    }
    const [, command] = /^ExecStart=\/usr\/bin\/env task-mirror (\w+)/m.exec(text) ?? []
    expect(commands).toContain(command)
    expect(text).toContain('LoadCredential=api-key:')
    expect(text).toContain('Environment=TASK_MIRROR_API_KEY_FILE=%d/api-key')
  })

  test.skipIf(!existsSync('/usr/bin/systemd-analyze'))('systemd can read all units', () => {
    const paths = units.map((name) => join(folder, name))
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
    // What it says of other units of this machine is not about these.
    expect(stderr.split('\n').filter((line) => line.includes('task-mirror'))).toEqual([])
  })
})
