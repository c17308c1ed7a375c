// Completion scripts for shells, made from the table of commands and flags. Pure.
import { shellWord } from '../../shown.ts'

export interface CompletedFlag {
  /** `--max-duration`. */
  long: string
  /** `-q`; null where there is none. */
  short: string | null
  description: string
  /** What follows the flag: nothing, a file, a folder, one of a few words, or anything else. */
  value: 'none' | 'file' | 'folder' | 'other' | readonly string[]
}

export interface CompletedCommand {
  name: string
  summary: string
  flags: readonly CompletedFlag[]
  /** Words that may follow the command: its subcommands, or the choices of its argument. */
  words: Words
}

type Words = readonly { name: string; summary: string }[]

export type Shell = 'bash' | 'zsh' | 'fish'

/** The script that teaches `shell` the words and flags of `commands`; every command takes the flags in `shared`. */
export function completionScript(
  shell: Shell,
  commands: readonly CompletedCommand[],
  shared: readonly CompletedFlag[],
): string {
  const make = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell]
  return make(commands, shared)
}

function spellings({ long, short }: CompletedFlag): string[] {
  return short === null ? [long] : [short, long]
}

/** Groups flags by what follows them, as arms of a shell's `case` on the word before the one to complete. */
function valueArms(flags: readonly CompletedFlag[], answer: (value: CompletedFlag['value']) => string): string[] {
  const arms = new Map<string, Set<string>>()
  for (const flag of flags) {
    if (flag.value === 'none') continue
    const body = answer(flag.value)
    const names = arms.get(body) ?? new Set()
    for (const name of spellings(flag)) names.add(name)
    arms.set(body, names)
  }
  return [...arms].map(([body, names]) => `      ${[...names].join('|')}) ${body}; return ;;`)
}

/** One arm per command, so that two commands can read the same flag differently. The last arm is for no command. */
function commandArms(
  commands: readonly CompletedCommand[],
  shared: readonly CompletedFlag[],
  offer: (flags: readonly CompletedFlag[], words: Words) => string,
): string {
  const arms = commands.map(({ name, flags, words }) => ({ name, offered: offer([...flags, ...shared], words) }))
  return [...arms, { name: '*', offered: offer(shared, commands) }]
    .map(({ name, offered }) => `    ${name})\n${offered}\n      ;;`)
    .join('\n')
}

function bashScript(commands: readonly CompletedCommand[], shared: readonly CompletedFlag[]): string {
  const answer = (value: CompletedFlag['value']) => {
    if (value === 'file') return 'COMPREPLY=($(compgen -f -- "$word"))'
    if (value === 'folder') return 'COMPREPLY=($(compgen -d -- "$word"))'
    if (typeof value === 'string') return 'COMPREPLY=()'
    return `COMPREPLY=($(compgen -W ${shellWord(value.join(' '))} -- "$word"))`
  }
  const offer = (flags: readonly CompletedFlag[], words: Words) => `      case $before in
${valueArms(flags, answer).join('\n')}
      esac
      offered=${shellWord([...words.map(({ name }) => name), ...flags.flatMap(spellings)].join(' '))}`
  return `# bash completion for task-mirror. Load it with: source <(task-mirror completion bash)
_task_mirror() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= offered= at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
    ${commands.map(({ name }) => name).join('|')}) command=\${COMP_WORDS[at]}; break ;;
    esac
  done
  case $command in
${commandArms(commands, shared, offer)}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o filenames -F _task_mirror task-mirror
`
}

function zshScript(commands: readonly CompletedCommand[], shared: readonly CompletedFlag[]): string {
  const answer = (value: CompletedFlag['value']) => {
    if (value === 'file') return '_files'
    if (value === 'folder') return '_files -/'
    if (typeof value === 'string') return "_message 'value'"
    return `compadd -- ${value.map(shellWord).join(' ')}`
  }
  // zsh's `_describe` takes name and description with a colon between them.
  const described = (name: string, text: string) => shellWord(`${name.replaceAll(':', '\\:')}:${text}`)
  const flagWords = (flags: readonly CompletedFlag[]) =>
    flags.flatMap((flag) => spellings(flag).map((name) => described(name, flag.description)))
  const offer = (flags: readonly CompletedFlag[], words: Words) => `      case $before in
${valueArms(flags, answer).join('\n')}
      esac
      flags=(${flagWords(flags).join(' ')})
      words_=(${words.map(({ name, summary }) => described(name, summary)).join(' ')})`
  return `#compdef task-mirror
# zsh completion for task-mirror. Load it with: source <(task-mirror completion zsh)
_task_mirror() {
  local before=\${words[CURRENT-1]} command= word
  local -a flags words_
  for word in \${words[2,CURRENT-1]}; do
    case $word in
    ${commands.map(({ name }) => name).join('|')}) command=$word; break ;;
    esac
  done
  case $command in
${commandArms(commands, shared, offer)}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe 'flag' flags
  elif (( \${#words_} )); then _describe 'word' words_
  else _describe 'flag' flags
  fi
}
if [[ \${funcstack[1]} == _task_mirror ]]; then _task_mirror "$@"; elif (( \${+functions[compdef]} )); then compdef _task_mirror task-mirror; fi
`
}

function fishScript(commands: readonly CompletedCommand[], shared: readonly CompletedFlag[]): string {
  const names = commands.map(({ name }) => name).join(' ')
  const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const flagLine = (condition: string, { long, short, description, value }: CompletedFlag) => {
    const name = `${short === null ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`
    const follows =
      value === 'none'
        ? ''
        : value === 'file'
          ? ' -r -F'
          : value === 'folder'
            ? " -x -a '(__fish_complete_directories)'"
            : value === 'other'
              ? ' -x'
              : ` -x -a ${fishQuoted(value.join(' '))}`
    return `complete -c task-mirror${condition}${name}${follows} -d ${fishQuoted(description)}`
  }
  const wordLine = (condition: string, name: string, summary: string) =>
    `complete -c task-mirror -n ${fishQuoted(condition)} -a ${fishQuoted(name)} -d ${fishQuoted(summary)}`
  const none = `not __fish_seen_subcommand_from ${names}`
  return [
    '# fish completion for task-mirror. Load it with: task-mirror completion fish | source',
    'complete -c task-mirror -f',
    ...shared.map((flag) => flagLine('', flag)),
    ...commands.map(({ name, summary }) => wordLine(none, name, summary)),
    ...commands.flatMap(({ name, flags, words }) => {
      const condition = `__fish_seen_subcommand_from ${name}`
      return [
        ...flags.map((flag) => flagLine(` -n ${fishQuoted(condition)}`, flag)),
        ...words.map((word) => wordLine(condition, word.name, word.summary)),
      ]
    }),
    '',
  ].join('\n')
}
