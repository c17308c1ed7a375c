// What is deployed: the files for Docker, Kubernetes and systemd parse, fit their schemas and agree with the program.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { Cron } from 'croner'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { COMMANDS } from '../src/commands/index.ts'
import { environmentName, KEYS } from '../src/config/keys.ts'
import { EXIT } from '../src/errors.ts'
import { makeScratch } from './support/scratch.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const commands = COMMANDS.map(({ name }) => name)
const documents = (name: string) => parseAllDocuments(read(name)).map((document) => document.toJS())

type Json = Record<string, unknown>
type Path = (string | number)[]

function isFit(document: Json): boolean {
  const kinds = { CronJob, Job, PersistentVolumeClaim }
  try {
    new kinds[document.kind as keyof typeof kinds](document as never).validate()
    return true
  } catch {
    return false
  }
}

function pathsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return keys.flatMap((key) => [[...above, key], ...pathsOf((value as Json)[key], [...above, key])])
}

function withValueAt(document: Json, path: Path, value: unknown): Json {
  const copy = structuredClone(document)
  const last = path.at(-1) as string
  const parent = path.slice(0, -1).reduce<Json>((at, key) => at[key] as Json, copy)
  parent[last] = value
  return copy
}

/** The validators let fields pass that they do not know; one they know refuses what can be no JSON value. */
const unknownFields = (document: Json): string[] =>
  pathsOf(document)
    .filter((path) => isFit(withValueAt(document, path, () => undefined)))
    .map((path) => path.join('.'))

describe.each([
  ['deploy/cronjob.yaml', 1],
  ['deploy/backfill-job.yaml', 0],
])('%s', (name, index) => {
  const all = documents(name)
  const job = all[index]
  const jobSpec = job.kind === 'CronJob' ? job.spec.jobTemplate.spec : job.spec
  const pod = jobSpec.template.spec
  const [container] = pod.containers

  test('fits the schemas of Kubernetes, which know every field of it', () => {
    for (const document of all) {
      expect(isFit(document)).toBe(true)
      expect(pathsOf(document).length).toBeGreaterThan(8)
      expect(unknownFields(document)).toEqual([])
    }
  })

  test('a field that is misspelled or of another type would be found', () => {
    for (const document of all) {
      const misspelled = { ...document, spec: { ...document.spec, parallelismm: 1 } }
      expect(unknownFields(misspelled)).toEqual(['spec.parallelismm'])
      expect(isFit({ ...document, spec: [] })).toBe(false)
    }
    const deep = withValueAt(all[index], [...pathsOf(all[index]).find((path) => path.at(-1) === 'fsGroup')!], 'many')
    expect(isFit(deep)).toBe(false)
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
  const compose = parse(read('deploy/compose.yaml'))
  const { services, secrets, volumes } = compose

  test('fits the schema of the Compose specification; what is misspelled or of another type does not', () => {
    // The schema of compose-spec.io, as the linter brings it along.
    const schema = JSON.parse(read('node_modules/dclint/schemas/compose.schema.json'))
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
    const validate = ajv.compile({ ...schema, $schema: undefined })
    const faults = (file: unknown) => (validate(file) ? [] : validate.errors?.map(({ instancePath }) => instancePath))
    expect(faults(compose)).toEqual([])
    const worker = (more: object) => ({
      ...compose,
      services: { ...services, worker: { ...services.worker, ...more } },
    })
    expect(faults(worker({ read_onyl: true }))).toContain('/services/worker')
    expect(faults(worker({ ports: '8080:8080' }))).toContain('/services/worker/ports')
    expect(faults(worker({ restart: ['no'] }))).toContain('/services/worker/restart')
    expect(faults({ ...compose, service: {} })).toContain('')
  })

  test('names only environment variables, volumes and secrets that exist', () => {
    const others = ['TASK_MIRROR_BASE_URL', 'TASK_MIRROR_API_KEY_FILE', 'NODE_OPTIONS', 'MALLOC_ARENA_MAX']
    const variables = new Set([...KEYS.map(environmentName), ...others])
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
    expect(stages[1]).toMatch(/^\$\{BASE\}\n/)
    expect(stages[1]).not.toMatch(/npm|apt-get|tsc/)
    expect(stages[1]).toMatch(/^USER 1000:0$/m)
    expect(stages[1]).toMatch(/^VOLUME \/data$/m)
    expect(stages[1]).toMatch(/^ENTRYPOINT \["node", "\/app\/dist\/cli\.js"\]\nCMD \["sync"\]$/m)
  })

  test('both stages stand on one base, which a release pins by its digest', () => {
    expect(text).toMatch(/^ARG BASE=node:24-bookworm-slim$/m)
    expect(text.indexOf('ARG BASE')).toBeLessThan(text.indexOf('\nFROM '))
    expect(stages[0]).toMatch(/^\$\{BASE\} AS build\n/)
    expect(text).toMatch(/--build-arg BASE=node:24-bookworm-slim@sha256:/)
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

  describe.skipIf(!existsSync('/usr/bin/systemd-analyze'))('systemd', () => {
    function complaints(paths: string[]): string[] {
      const { error, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })
      if (error !== undefined) throw error
      // What it says of other units of this machine is not about these.
      return stderr.split('\n').filter((line) => line.includes('task-mirror'))
    }

    test('can read all units', () => {
      expect(complaints(units.map((name) => join(folder, name)))).toEqual([])
    })

    test('a key that is misspelled or a value of another kind would be found', () => {
      using scratch = makeScratch()
      const name = 'task-mirror-schedule.service'
      const broken = read(`deploy/systemd/${name}`).replace('DynamicUser', 'DynamikUser').replace('=30', '=soon')
      writeFileSync(scratch.path(name), broken)
      expect(complaints([scratch.path(name)])).toEqual([
        expect.stringContaining("Unknown key 'DynamikUser'"),
        expect.stringContaining('Failed to parse sec value'),
      ])
    })
  })
})
