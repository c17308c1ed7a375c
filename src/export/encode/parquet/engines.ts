// Loads the engine that was asked for; the other one stays unloaded.
import type { EngineName, ParquetEngine } from './engine.ts'

export async function engineOf(name: EngineName): Promise<ParquetEngine> {
  return name === 'parquetjs-lite'
    ? (await import('./parquetjs-lite.ts')).parquetjsLiteEngine
    : (await import('./hyparquet.ts')).hyparquetEngine
}
