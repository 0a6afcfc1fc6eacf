import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Resolver of a host name to all of its addresses. Rejects if there are none, or once `signal` aborts. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/**
 * Resolves a name as the system does, by the hosts file and then by DNS, but without `dns.lookup`, which holds one of
 * the process' four pool threads until it has an answer. Connections to upstreams need those threads too, so a few
 * webhooks under a name server that never answers would delay calls.
 */
export async function resolveAddresses(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const local = await inHostsFile(name);
  if (local.length > 0) return local;
  // Name servers must not be asked for localhost (RFC 6761, section 6.3).
  if (name === 'localhost' || name.endsWith('.localhost')) {
    return [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
  }
  return await inDns(name, signal);
}

async function inDns(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted();
  const resolver = new Resolver();
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
    ];
    if (found.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error(`no address for ${name}`);
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function inHostsFile(name: string): Promise<LookupAddress[]> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!address || !names.some((other) => other.toLowerCase() === name)) return [];
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  });
}
