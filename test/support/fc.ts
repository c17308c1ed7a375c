// fast-check with the same seed in every `npm test`: what it says of a change is no matter of chance. A soak draws another
// one each time; a failure names its seed, and FC_SEED repeats it.
import fc from 'fast-check'
import { SOAK } from './soak.ts'

const seed = process.env.FC_SEED ?? (SOAK ? undefined : '1')
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })

export default fc
