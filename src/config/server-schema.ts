import { normaliseRange } from '../domain/addresses.ts';
import { list, matching, number, optional, section, text } from './reader.ts';

const DAY_MS = 86_400_000;
const MAX_BODY_MB = 1_024;

export const host = matching(
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$|^[0-9a-f:.]*:[0-9a-f:.%a-z]*$/i,
  'must be a host name or an IP address to listen on, without a scheme or port',
);
export const port = number(0, 65_535);
export const drainDelay = number(0, 600_000);

/** A bare number is refused: as a count of hops it would let any client choose its address (CVE-2026-16732). */
export const trustedProxy = text('must be an IP address or a CIDR range, such as 10.0.0.0/8', (value) =>
  /[.:]/.test(value) ? normaliseRange(value) : undefined,
);

const NO_PROXIES: string[] = [];

/** The section `server`: where and how the gateway listens. */
export const serverSection = section({
  host: optional(host, '127.0.0.1', 'Address to listen on. `HOST` overrides it'),
  port: optional(port, 8080, 'Port to listen on. `PORT` overrides it'),
  trustProxy: optional(
    list(trustedProxy),
    NO_PROXIES,
    'Addresses or CIDR ranges of trusted proxies. `TRUST_PROXY` overrides it',
  ),
  bodyLimitMb: optional(
    number(0.001, MAX_BODY_MB, 'decimal'),
    50,
    'Largest body of a model call, in MiB; 1 MiB elsewhere',
  ),
  headTimeoutMs: optional(
    number(1, DAY_MS),
    15_000,
    'Time limit for request headers; idle connections close after it',
  ),
  bodyTimeoutMs: optional(
    number(1, DAY_MS),
    120_000,
    'Time limit for a whole request, and for a client that reads nothing of its answer',
  ),
  drainDelayMs: optional(
    drainDelay,
    0,
    'How long a stopping gateway keeps serving. `DRAIN_DELAY_MS` overrides it',
  ),
});
