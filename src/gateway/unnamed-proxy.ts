import type { IncomingHttpHeaders } from 'node:http';
import { type ParsedAddress, parseAddress } from '../domain/addresses.ts';
import type { Log } from '../log/log.ts';

const DAY_MS = 86_400_000;
/** Headers in which proxies name the client. */
const FORWARDING = ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'forwarded'] as const;

/**
 * Warns once a day that a restricted key was checked by the address of a proxy that TRUST_PROXY does not name:
 * `allowed_ips` then refuses everybody, and `blocked_countries` nobody, because a private address has no country.
 */
export class UnnamedProxy {
  readonly #log: Log;
  /** When it last warned. */
  lastAt: number | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** `checked`: the address by which the key was checked. */
  note(checked: ParsedAddress, headers: IncomingHttpHeaders, now = Date.now()): void {
    if (dayOf(now) === dayOf(this.lastAt) || checked.range() === 'unicast') return;
    const header = FORWARDING.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    // The client itself is on a private network if nothing is left of it.
    const [first = ''] = String(headers[header]).split(',', 1);
    if (parseAddress(first.trim())?.toString() === checked.toString()) return;
    this.lastAt = now;
    this.#log.warn(
      { address: checked.toString(), header },
      'a key with restrictions of addresses or countries was checked by a private address, probably a proxy: name every proxy in TRUST_PROXY',
    );
  }
}

function dayOf(ms = -1): number {
  return Math.floor(ms / DAY_MS);
}
