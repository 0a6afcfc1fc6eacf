import { normalizeRange } from '../domain/addresses.ts';
import { MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import { micro } from '../domain/credits.ts';
import { credits } from '../domain/key-readers.ts';
import { type Field, type JsonSchema, list, optional, reader, section, text } from '../domain/shape.ts';
import { publicUrl } from './people.ts';
import { boolean, matching, number, referable } from './references.ts';

const DAY_MS = 86_400_000;
const MAX_BODY_MB = 1_024;

export const host = matching(
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$|^[0-9a-f]*:[0-9a-f]*:[0-9a-f:.%a-z]*$/i,
  'must be a host name or an IP address to listen on, without a scheme or port',
);
export const port = number(0, 65_535);
export const drainDelay = number(0, 600_000);

/** Normalizes an address or range; undefined for other text and for all addresses, also as `::ffff:0:0/96`. */
function someAddresses(value: string): string | undefined {
  const range = normalizeRange(value);
  return range?.endsWith('/0') ? undefined : range;
}

/** Refuses a bare number: as a hop count it would let any client choose its address (CVE-2026-16732). */
export const trustedProxy = text(
  'must be an IP address or a CIDR range, such as 10.0.0.0/8, and not /0, which would believe every client',
  (value) => (/[.:]/.test(value) ? someAddresses(value) : undefined),
);

const NO_RANGES: string[] = [];

/** `server`: where and how the gateway listens. */
export const serverSection = section({
  host: optional(host, '127.0.0.1', 'Address to listen on. `HOST` overrides it'),
  port: optional(port, 8080, 'Port to listen on. `PORT` overrides it'),
  publicUrl: optional(
    publicUrl,
    undefined,
    'URL at which people reach the gateway, with a path if a proxy adds one; for links and OIDC. Default: scheme and host of the request',
  ),
  trustProxy: optional(
    list(trustedProxy),
    NO_RANGES,
    'Addresses or CIDR ranges of trusted proxies. `TRUST_PROXY` overrides it',
  ),
  bodyLimitMb: optional(
    number(0.001, MAX_BODY_MB, 'decimal'),
    50,
    'Largest body of a model call, in MiB; 1 MiB elsewhere',
  ),
  headTimeoutMs: optional(number(1, DAY_MS), 15_000, 'Time limit for request headers'),
  keepAliveTimeoutMs: optional(
    number(1, DAY_MS),
    620_000,
    'How long an idle connection stays open. Set it above that of your load balancer, which must close first',
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

/** `limits`: bounds of model calls. */
export const limitsSection = section({
  requestTimeoutMs: optional(number(1, DAY_MS), 1_800_000, 'Longest model call'),
  headersTimeoutMs: optional(
    number(1, DAY_MS),
    300_000,
    'Longest wait for a streamed answer to begin; others have `requestTimeoutMs`',
  ),
  idleTimeoutMs: optional(number(1, DAY_MS), 600_000, 'Longest silence of an upstream within an answer'),
  readOnMs: optional(
    number(0, DAY_MS),
    60_000,
    'How long the gateway reads on for the usage report after the client left; 0: cancels at once and estimates',
  ),
  hiddenTokensPerSecond: optional(
    number(0, 1_000_000),
    50,
    'Hidden reasoning in estimates: tokens per second until the first visible output of a text model',
  ),
  imageTokens: optional(
    number(1, 10_000_000),
    20_000,
    'Maximum tokens of one picture in a request, for models without `imageTokens`',
  ),
  fileTokens: optional(
    number(1, 100_000_000),
    undefined,
    "Maximum tokens of one document or file in a request; a larger one can overdraw. Default: the model's context",
  ),
  contextTokens: optional(
    number(1, 100_000_000),
    1_000_000,
    'Maximum tokens that a model without `contextWindow` reads in one pass',
  ),
  toolRounds: optional(
    number(1, 1_000),
    3,
    'Uses of provider-run tools, for requests that set no bound; sent as `max_tool_calls` or `max_uses`',
  ),
  toolTokens: optional(
    number(1, 100_000_000),
    50_000,
    'Maximum tokens that one use of a provider-run tool adds to the input; sent as `max_content_tokens` of web fetch',
  ),
  attempts: optional(number(1, 100), 3, 'Maximum targets that one call is sent to'),
  retryUnsure: optional(
    boolean,
    false,
    'true: a call also goes to the next target after a timeout or a broken connection, so both providers may bill it',
  ),
  waitingCalls: optional(
    number(1, 1_000_000),
    5_000,
    'Maximum calls of one gateway that wait for Redis; more get 503',
  ),
  memoryMb: optional(
    number(256, 10_000_000),
    undefined,
    "Memory of one process in MiB; calls and connections beyond it get 503. Default: that of the container or machine, divided by `WORKERS`, at most twice Node's heap",
  ),
  journalEntries: optional(
    number(1, 1_000_000_000),
    1_000_000,
    'Maximum ledger entries waiting for the database; beyond it, calls get 503',
  ),
});

/** A call limit of new accounts; null for none. */
function callLimit(description: string): Field<number | null> {
  const whole = number(1, MAX_CALL_LIMIT);
  const { anyOf } = whole.schema as { anyOf: readonly JsonSchema[] };
  const limit = reader({ anyOf: [...anyOf, { type: 'null' }] }, whole);
  return optional(limit, null, `${description}; null: no limit`);
}

/** `accounts`: bounds of accounts, and defaults of new ones. */
export const accountsSection = section({
  maxKeys: optional(
    number(1, 100_000),
    10_000,
    'Maximum keys of one account, including inactive ones; keys are never removed',
  ),
  maxKeyBytes: optional(
    number(1_000, 1_000_000_000),
    33_554_432,
    'Maximum bytes of the settings of all keys of one account, as JSON; Redis holds them all',
  ),
  overdraft: optional(referable(credits()), micro(0), 'Overdraft of new accounts, in credits'),
  rpmLimit: callLimit('Calls per minute of all keys of a new account'),
  tpmLimit: callLimit('Tokens per minute of all keys of a new account'),
  maxParallelRequests: callLimit('Calls in flight of all keys of a new account'),
});

/** `calls`: retention of refused calls. */
export const callsSection = section({
  refusalsPerMinute: optional(
    number(0, 10_000),
    20,
    'Refused calls per key, error code and minute that get their own entry; the rest share one',
  ),
  refusalDays: optional(
    number(1, 3_650),
    30,
    'Days that refused calls, and error messages of others, are kept',
  ),
  refusalRows: optional(
    number(1, 100_000_000),
    1_000_000,
    'Maximum entries of refused calls; the accounts that have most lose their oldest first',
  ),
});

const receiver = text(
  'must be an IP address or a CIDR range of receivers, such as 10.1.2.3/32, and not /0',
  someAddresses,
);

/** `alerts`: delivery of webhooks. */
export const alertsSection = section({
  timeoutMs: optional(number(1, 60_000), 10_000, 'Time limit for one webhook delivery: DNS, connect, answer'),
  allowPrivateNetworks: optional(
    boolean,
    false,
    'true: webhooks can go to addresses that are not public; for development only',
  ),
  allow: optional(
    list(receiver),
    NO_RANGES,
    'Addresses or CIDR ranges of internal receivers that webhooks can go to although they are not public',
  ),
});
