// The conditions of the rules, by the names that docs/proof.md gives them.

/** Every condition by name: a test switches each one off in turn. */
export const CONDITIONS = [
  'nothing: came twice',
  'nothing: asked for as many as any answer held',
  'nothing: no window was taken in behind an end it showed',
  'join: shows an anchor, or its place does',
  'join: no other run is owed',
  'from: begins before the range',
  'place: asked for by itself',
  'place: asked for after an answer that shows it',
  'place: shown once more afterwards',
  'place: leaves no position out',
  'apart: still cannot be read',
  'end: reaches beyond a refusal',
  'counted: read one after another',
  'counted: ends where it ended',
  'counted: as many ids as it is long',
  'counted: shows one that was met',
  'room: shorter than asked',
  'room: shorter than another',
  'room: no cut by size was seen',
  'passed: its last run begins behind what was empty',
  'passed: asked for after it was empty',
  'reached: shows an item behind the range',
  'repeated: the last item, asked for alone',
  'repeated: given alone',
  'repeated: as further down before',
  'repeated: read one after another',
  'repeated: at its place before, asked for alone',
] as const

/** The name of one condition. */
export type ConditionName = (typeof CONDITIONS)[number]

/** What a proof still lacks: a statement that does not hold. */
export type MissingLink =
  | ConditionName
  | 'ties stand in the order of their ids'
  | 'every window that is taken in was told'
  | 'every run that was counted was marked'
  | 'the run of equal createdAt that is owed has been counted'
  | 'a window has joined'
  | 'the end of the list was shown'
