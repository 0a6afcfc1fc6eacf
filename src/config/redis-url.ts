export type RedisAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'cluster';
      readonly nodes: readonly { host: string; port: number }[];
      readonly auth: { username?: string; password?: string };
    };

/** An address for messages: without credentials. */
export function redisAddressText(address: RedisAddress): string {
  if (address.kind === 'socket') return address.path;
  if (address.kind === 'cluster') return address.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  const { host, pathname } = new URL(address.url);
  return host + pathname;
}

/**
 * Parses `redis://`, `rediss://`, `unix:///path` or `redis+cluster://[user:password@]host:port,host:port`
 * (specification section 1, "Redis"). Throws an Error that states the problem.
 */
export function parseRedisUrl(url: string): RedisAddress {
  if (/^rediss?:\/\//.test(url)) {
    const { pathname, searchParams } = URL.parse(url) ?? {};
    if (pathname === undefined) throw new Error('REDIS_URL is not a valid redis:// URL');
    if (!/^(?:\/\d{0,5})?$/.test(pathname) || !/^\d{0,5}$/.test(searchParams?.get('db') ?? ''))
      throw new Error('REDIS_URL must name the database by its number, as in redis://host:6379/1');
    return { kind: 'single', url };
  }
  if (url.startsWith('unix:///')) return { kind: 'socket', path: url.slice('unix://'.length) };
  const match = /^redis\+cluster:\/\/(?:([^@]*)@)?([^/?]+)\/?$/.exec(url);
  if (!match) {
    throw new Error(
      'REDIS_URL must be redis://…, rediss://…, unix:///… or redis+cluster://host:port,host:port',
    );
  }
  const [, credentials = '', hosts = ''] = match;
  const nodes = hosts.split(',').map((text) => {
    const node = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined;
    if (!node?.hostname) throw new Error('REDIS_URL has a cluster node that is not host:port');
    return { host: node.hostname.replace(/^\[|\]$/g, ''), port: Number(node.port || 6379) };
  });
  const [username = '', password = ''] = credentials.split(':').map(decodeURIComponent);
  return {
    kind: 'cluster',
    nodes,
    auth: { ...(username ? { username } : {}), ...(password ? { password } : {}) },
  };
}
