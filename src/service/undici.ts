// The parts of undici that are used, each by its own path: its index loads all of it, 110 modules, which takes a tenth of
// a run that has nothing to do. The version is pinned in package.json, because these paths are none of its promises
// (docs/decisions/undici.md).
import { createRequire } from 'node:module'
import type { buildConnector as connectorOf, Dispatcher, Pool as PoolOf, ProxyAgent as ProxyAgentOf } from 'undici'

const require = createRequire(import.meta.url)

export const Pool = require('undici/lib/dispatcher/pool.js') as typeof PoolOf
export const buildConnector = require('undici/lib/core/connect.js') as typeof connectorOf

/** Needs what only the index gives a dispatcher, so that all of undici is loaded where there is a proxy. */
export const proxyAgent = (): typeof ProxyAgentOf => (require('undici') as typeof import('undici')).ProxyAgent

const ask = require('undici/lib/api/api-request.js') as Dispatcher['request']

/** `Dispatcher.request`, which the index adds to every dispatcher. */
export function request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  return ask.call(dispatcher, options) as Promise<Dispatcher.ResponseData>
}
