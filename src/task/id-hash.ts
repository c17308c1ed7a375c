// A number for an id: small enough to keep by the million, and the same in every version. Pure.

/** 52 bits: two can be added without losing a digit. No secret: whoever wants two ids with one hash finds them. */
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
