// A number for an id: small enough to be kept by the million, and the same in every version. Pure.

/** 52 bits: two of them can be added without losing a digit. Nobody's secret: who wants two ids with one number finds them. */
export function idHash(id: string): number {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b + unit, 0x85ebca6b) ^ (b >>> 13)
  }
  return (a >>> 0) * 2 ** 20 + (b >>> 12)
}

/** A set of ids as one number, in whatever order they are added. */
export function idSum(sum: number, id: string): number {
  return (sum + idHash(id)) % 2 ** 52
}
