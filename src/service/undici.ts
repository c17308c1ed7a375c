// The parts of undici that are used, each loaded by its own path: the index loads all 110 modules, which takes a tenth
// of a run with nothing to do. The version is pinned in package.json, because undici makes no promise about these
// paths (docs/decisions/undici.md).
import { createRequire } from 'node:module'
import type { buildConnector as connectorOf, Dispatcher, Pool as PoolOf, ProxyAgent as ProxyAgentOf } from 'undici'

const require = createRequire(import.meta.url)

export const Pool = require('undici/lib/dispatcher/pool.js') as typeof PoolOf
export const buildConnector = require('undici/lib/core/connect.js') as typeof connectorOf

/** Where there is a proxy, all of undici is loaded: its agent needs what only the index adds to a dispatcher. */
export const proxyAgent = (): typeof ProxyAgentOf => (require('undici') as typeof import('undici')).ProxyAgent

const ask = require('undici/lib/api/api-request.js') as Dispatcher['request']

/** `Dispatcher.request`, which the index adds to every dispatcher. */
export function request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  return ask.call(dispatcher, options) as Promise<Dispatcher.ResponseData>
}
