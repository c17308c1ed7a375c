// What is known of windows that were asked for ahead, and of where the list seems to end.
import { expect, test } from 'vitest'
import { EarlyWindows, SeemingEnd } from '../../src/sync/early-windows.ts'

const settled = () => new Promise(setImmediate)

test('a window is taken out once, by place and size, and tells whether it had come', async () => {
  const early = new EarlyWindows<string>()
  const late = Promise.withResolvers<string>()
  early.add(0, 10, Promise.resolve('first'))
  early.add(10, 10, late.promise)
  await settled()
  expect([early.size, early.come, early.has(10, 10), early.has(10, 5)]).toEqual([2, 1, true, false])
  expect(early.take(10, 5)).toBeUndefined()
  expect(early.take(0, 10)).toMatchObject({ hasCome: true })
  expect(early.take(0, 10)).toBeUndefined()
  expect(early.take(10, 10)).toMatchObject({ hasCome: false })
  late.resolve('second')
  await settled()
  expect([early.size, early.come]).toEqual([0, 0])
})

test('what fails has come, and is nobody’s error until it is read', async () => {
  const early = new EarlyWindows<string>()
  early.add(0, 10, Promise.reject(new Error('no')))
  await settled()
  expect(early.come).toBe(1)
  await expect(early.take(0, 10)?.answer).rejects.toThrow('no')
})

test('a window asked for again takes the place of the one before', async () => {
  const early = new EarlyWindows<string>()
  early.add(0, 10, Promise.resolve('too large'))
  await settled()
  early.add(0, 10, Promise.resolve('smaller'))
  await settled()
  expect([early.size, early.come]).toEqual([1, 1])
  expect(await early.take(0, 10)?.answer).toBe('smaller')
  expect(early.come).toBe(0)
})

test('what is cleared counts no more, also where it comes later', async () => {
  const early = new EarlyWindows<string>()
  const late = Promise.withResolvers<string>()
  early.add(0, 10, Promise.resolve('first'))
  early.add(10, 10, late.promise)
  await settled()
  expect(early.clear().map(({ skip }) => skip)).toEqual([0, 10])
  late.resolve('second')
  await settled()
  expect([early.size, early.come]).toEqual([0, 0])
})

test('an answer is short that holds less than was asked for and less than others did', () => {
  const end = new SeemingEnd()
  end.saw(0, 100, 20)
  expect(end.liesBefore(1_000)).toBe(false)
  // The service gives 20 at most.
  end.saw(20, 100, 20)
  expect(end.liesBefore(1_000)).toBe(false)
  // A look at a few.
  end.saw(40, 5, 5)
  expect(end.liesBefore(1_000)).toBe(false)
  end.saw(40, 100, 7)
  expect([end.liesBefore(47), end.liesBefore(48)]).toEqual([false, true])
  // Another one nearer.
  end.saw(30, 100, 1)
  expect(end.liesBefore(32)).toBe(true)
})

test('whoever goes on behind a seeming end shows that it was none', () => {
  const end = new SeemingEnd()
  end.saw(0, 10, 10)
  end.saw(10, 10, 3)
  end.goesOn(13)
  expect(end.liesBefore(20)).toBe(true)
  end.goesOn(14)
  expect(end.liesBefore(20)).toBe(false)
})
