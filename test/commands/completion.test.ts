// The completion scripts, asked in the shells themselves.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/commands/index.ts'
import { longName, SHARED_FLAGS } from '../../src/flags.ts'
import { runCli } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

const names = COMMANDS.map(({ name }) => name)

/** What is offered for a command line whose last word is being written. */
type Ask = (script: string, words: string[]) => string[]

const lines = (command: string, args: string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(' ')

const ask = (folder: string): Record<string, Ask> => ({
  bash: (script, words) =>
    lines(
      'bash',
      [
        '--norc',
        '-c',
        `source ${script}; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _task_mirror; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      folder,
    ),
  // Without a terminal zsh has no completion of its own: stand-ins print what they are given.
  zsh: (script, words) =>
    lines(
      'zsh',
      [
        '-f',
        '-c',
        `_describe() { print -l -- "\${(@)\${(P)2}%%:*}" }; _files() { print -l -- *(N) }; compadd() { shift; print -l -- "$@" }
         source ${script}; words=(${quoted(words)}); CURRENT=${words.length}; _task_mirror`,
      ],
      folder,
    ).filter((line) => line.startsWith(words.at(-1) ?? '')),
  fish: (script, words) =>
    lines('fish', ['--no-config', '-c', `source ${script}; complete -C "${words.join(' ')}"`], folder).map(
      (line) => line.split('\t')[0] as string,
    ),
})

const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

test.each(['bash', 'zsh', 'fish'].map((shell) => [shell, isThere(shell)] as const))(
  '%s offers commands, subcommands, flags, their values and files (it is here: %s)',
  async (shell, here) => {
    if (!here) return
    using scratch = makeScratch()
    const { code, stdout } = await runCli(['completion', shell], { cwd: scratch.dir })
    expect(code).toBe(0)
    writeFileSync(scratch.path('script'), stdout)
    const offered = (...words: string[]) =>
      ask(scratch.dir)
        [shell]?.('./script', ['task-mirror', ...words])
        .sort()
    expect(offered('')).toEqual(expect.arrayContaining(names))
    expect(offered('sy')).toEqual(['sync'])
    expect(offered('config', 's')).toEqual(['show'])
    expect(offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
    expect(offered('--json', 'sync', '--fu')).toEqual(['--full'])
    const shared = SHARED_FLAGS.map(longName)
    expect(offered('status', '--')).toEqual(expect.arrayContaining(['--max-age', '--help', ...shared]))
    expect(offered('status', '--')).not.toContain('--full')
    expect(offered('sync', '--details', '')).toEqual(['always', 'auto', 'never'])
    expect(offered('export', '--compression', 'z')).toEqual(['zstd'])
    expect(offered('status', '--db', 'scr')).toEqual(['script'])
  },
)

test('a shell that is not known is wrong usage', async () => {
  using scratch = makeScratch()
  const { code, stderr } = await runCli(['completion', 'tcsh'], { cwd: scratch.dir })
  expect(code).toBe(2)
  expect(stderr).toContain('is not one of bash, zsh, fish')
})
