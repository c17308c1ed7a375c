// Options as values and as texts of flags.
import { describe, expect, it } from 'vitest'
import { SIMULATOR_DEFAULTS, simulatorFlags, simulatorOptions } from '../../src/simulator/options.ts'

describe('simulatorOptions', () => {
  it('fills in the defaults', () => {
    expect(simulatorOptions()).toEqual(SIMULATOR_DEFAULTS)
    expect(simulatorOptions({ tasks: undefined }).tasks).toBe(5000)
  })

  it('takes the texts of flags', () => {
    expect(
      simulatorOptions({
        tasks: '20',
        faultRate: '0.01',
        poison: '3,77',
        faultKinds: '500,reset',
        newest: '2026-11-20T00:00:00Z',
        dateHeader: 'false',
        clockSkewMs: '-5000',
        wrap: true,
      }),
    ).toEqual({
      ...SIMULATOR_DEFAULTS,
      tasks: 20,
      faultRate: 0.01,
      poison: ['3', '77'],
      faultKinds: ['500', 'reset'],
      newest: Date.UTC(2026, 10, 20),
      dateHeader: false,
      clockSkewMs: -5000,
      wrap: true,
    })
  })

  it.each([
    [{ tasks: 'many' }, '--tasks "many"'],
    [{ tasks: -1 }, '--tasks -1'],
    [{ faultRate: 1.5 }, '--fault-rate 1.5'],
    [{ order: 'newest' }, 'created_desc, created_asc'],
    [{ port: 70_000 }, '--port 70000'],
    [{ path: 'api/' }, '--path "api/"'],
    [{ faultKinds: 'fire' }, '--fault-kinds "fire"'],
    [{ newest: 'yesterday' }, '--newest "yesterday"'],
    [{ capItem: 3 }, 'unknown option --cap-item'],
  ])('refuses %j and names the flag', (input, named) => {
    expect(() => simulatorOptions(input)).toThrow(
      expect.objectContaining({ code: 'usage-invalid', message: expect.stringContaining(named) }),
    )
  })

  it.each([
    [{ idSeed: 'zz' }, '--id-seed "zz": must be a whole number of at least 0'],
    [{ port: '70000' }, '--port "70000": must be a whole number from 0 to 65535'],
    [{ clockSkewMs: 'x' }, '--clock-skew-ms "x": must be a whole number'],
    [{ openFraction: '2' }, '--open-fraction "2": must be a number from 0 to 1'],
    [{ spanDays: '-1' }, '--span-days "-1": must be a number of at least 0'],
    [{ newest: 'soon' }, '--newest "soon": must be a moment, such as 2026-11-20, or epoch milliseconds'],
    [{ faultKinds: 'fire' }, '--fault-kinds "fire": must be some of 500, 503, 429'],
    [{ dateHeader: 'maybe' }, '--date-header "maybe": must be true or false'],
    [{ path: 'api/' }, '--path "api/": must be a path such as /api/v1'],
    [{ host: '' }, '--host "": must be a text that is not empty'],
  ])('says what %j had to be, not what the flag does', (input, said) => {
    expect(() => simulatorOptions(input)).toThrow(`The simulator cannot start: ${said}`)
  })

  it('names all that is wrong at once', () => {
    expect(() => simulatorOptions({ tasks: -1, seed: 'x' })).toThrow(/--tasks.*--seed|--seed.*--tasks/)
  })
})

describe('simulatorFlags', () => {
  it('describes every option once, in one line', () => {
    const flags = simulatorFlags()
    expect(new Set(flags.map(({ flag }) => flag)).size).toBe(flags.length)
    for (const { about, flag } of flags) {
      expect(about).toMatch(/^.{5,110}$/)
      expect(flag).toMatch(/^--[a-z]+(-[a-z]+)*$/)
    }
    expect(flags).toContainEqual({
      key: 'capItems',
      flag: '--cap-items',
      value: '<number>',
      about: 'windows hold at most so many items, silently; 0: no cap',
      default: '0',
    })
    expect(flags.find(({ key }) => key === 'wrap')).toMatchObject({ value: null })
    expect(flags.find(({ key }) => key === 'notFound')?.value).toContain('item-null')
  })

  it('gives defaults that simulatorOptions takes back', () => {
    const given = Object.fromEntries(
      simulatorFlags().flatMap(({ key, default: text }) => (text === null ? [] : [[key, text]])),
    )
    expect(simulatorOptions(given)).toEqual(SIMULATOR_DEFAULTS)
  })
})
