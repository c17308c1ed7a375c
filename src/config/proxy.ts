// Which proxy HTTPS_PROXY, http_proxy and NO_PROXY name for a base URL. Read only where service.proxy says
// "environment".

interface FoundProxy {
  url: string | null
  /** The environment variable that decided; null where none did. */
  name: string | null
}

export function proxyFromEnvironment(baseUrl: string | null, env: NodeJS.ProcessEnv): FoundProxy {
  if (baseUrl === null) return { url: null, name: null }
  const { protocol, hostname } = new URL(baseUrl)
  // HTTP_PROXY in capitals is not read: a CGI server sets it from a request header (https://httpoxy.org).
  const names = protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['http_proxy']
  const name = names.find((candidate) => (env[candidate] ?? '') !== '')
  if (name === undefined) return { url: null, name: null }
  const noProxy = env.NO_PROXY || env.no_proxy || ''
  if (excludes(noProxy, hostname)) return { url: null, name: 'NO_PROXY' }
  const value = env[name] as string
  return { url: value.includes('://') ? value : `http://${value}`, name }
}

/** NO_PROXY is a list of hosts, IPv6 with or without brackets; each also covers its subdomains, `*` covers all. */
function excludes(list: string, hostname: string): boolean {
  const host = withoutBrackets(hostname)
  return list
    .split(/[,\s]+/)
    .map((entry) =>
      withoutBrackets(
        entry
          .toLowerCase()
          .replace(/^\*?\./, '')
          // What holds more colons is an address without a port.
          .replace(/^(\[.*\]|[^:]*):\d+$/, '$1'),
      ),
    )
    .some((entry) => entry !== '' && (entry === '*' || host === entry || host.endsWith(`.${entry}`)))
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')
