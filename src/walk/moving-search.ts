// A search for something in a list that moves meanwhile: onward in steps that double, or back, and between the two once both
// were too much. Pure.

export class MovingSearch {
  place: number
  /** It lies at `near` or further down, and before `far`; null where that is not known. */
  private near: number | null = null
  private far: number | null = null
  private step = 1
  private readonly stride: number

  constructor(place: number, stride: number) {
    this.place = place
    this.stride = stride
  }

  /** It lies behind what stands from `place` on, `count` items. */
  tooNear(count: number): void {
    this.near = this.place + count
    // It has moved behind what was too far.
    if (this.far !== null && this.near >= this.far) this.far = null
    this.place = this.far === null ? this.near + (this.step - 1) * count : this.middle(this.near, this.far)
    this.step *= 2
  }

  /** It lies before `place`; false where there is nothing before it. */
  tooFar(): boolean {
    if (this.place === 0) return false
    this.far = this.place
    // It has moved before what was too near.
    if (this.near !== null && this.near >= this.far) this.near = null
    this.place = this.near === null ? Math.max(0, this.far - this.step * this.stride) : this.middle(this.near, this.far)
    this.step *= 2
    return true
  }

  private middle(near: number, far: number): number {
    return near + Math.floor((far - near) / 2)
  }
}
