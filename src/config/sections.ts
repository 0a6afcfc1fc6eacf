import { normaliseRange } from '../domain/addresses.ts';
import { MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import { MAX_CREDITS, type Micro, micro, microFromCredits } from '../domain/credits.ts';
import {
  boolean,
  type Field,
  type JsonSchema,
  list,
  matching,
  number,
  optional,
  type Reader,
  reader,
  section,
  text,
} from './reader.ts';

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
  host: optional(host, '127.0.0.1', 'Address to listen on; 0.0.0.0 for all. `HOST` overrides it'),
  port: optional(port, 8080, 'Port to listen on; 0 picks a free one. `PORT` overrides it'),
  trustProxy: optional(
    list(trustedProxy),
    NO_PROXIES,
    'Addresses or CIDR ranges of proxies whose `X-Forwarded-For` the gateway trusts. `TRUST_PROXY` overrides it',
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
    'How long a stopping gateway keeps serving while `/readyz` returns 503. `DRAIN_DELAY_MS` overrides it',
  ),
});

/** The section `limits`: bounds of model calls. */
export const limitsSection = section({
  requestTimeoutMs: optional(number(1, DAY_MS), 1_800_000, 'Longest model call'),
  headersTimeoutMs: optional(
    number(1, DAY_MS),
    300_000,
    'Longest wait for the beginning of a streamed answer; other answers have `requestTimeoutMs`',
  ),
  idleTimeoutMs: optional(number(1, DAY_MS), 600_000, 'Longest silence of an upstream within an answer'),
  readOnMs: optional(
    number(0, DAY_MS),
    60_000,
    'How long the gateway reads an answer for its usage after the client left; 0: cancels at once and estimates',
  ),
  hiddenTokensPerSecond: optional(
    number(0, 1_000_000),
    50,
    'Tokens of hidden reasoning in such an estimate, for each second until the first visible output of a text model',
  ),
  imageTokens: optional(
    number(1, 10_000_000),
    20_000,
    'Most tokens of one picture in a request, for models without `imageTokens`; held',
  ),
  fileTokens: optional(
    number(1, 100_000_000),
    undefined,
    "Most tokens of one document or file in a request; held. A larger file can overdraw. Default: the model's context",
  ),
  contextTokens: optional(
    number(1, 100_000_000),
    1_000_000,
    'Most tokens that a model without `contextWindow` reads in one pass; no hold counts more for a pass',
  ),
  toolRounds: optional(
    number(1, 1_000),
    3,
    'Uses of provider-run tools for requests without a bound; sent as `max_tool_calls` or `max_uses`, and held',
  ),
  toolTokens: optional(
    number(1, 100_000_000),
    50_000,
    'Most tokens that one such use adds to the input; sent as `max_content_tokens` of web fetch, and held for each use',
  ),
  attempts: optional(number(1, 100), 3, 'Most targets of a model that one call is sent to'),
  retryUnsure: optional(
    boolean,
    false,
    'true: a call also goes to the next target after a timeout, or a connection that broke after sending. Both providers may bill it',
  ),
  maxQueueMs: optional(
    number(0, 600_000),
    0,
    'Longest wait of a call for room in its rate limits and concurrency; 0: it gets 429 at once',
  ),
  waitingCalls: optional(
    number(1, 1_000_000),
    5_000,
    'Calls of one gateway that wait for Redis; more get 503. As many may wait for their limits, one account at most an eighth; more get 429',
  ),
  memoryMb: optional(
    number(256, 10_000_000),
    undefined,
    "Memory of one gateway process in MiB; calls and connections beyond it get 503. Default: that of the container or machine, divided by `WORKERS`, at most twice Node's heap",
  ),
  journalEntries: optional(
    number(1, 1_000_000_000),
    1_000_000,
    'Ledger entries of all gateways that wait for the database; beyond it calls get 503',
  ),
});

/** Credits, 0 or more. */
const credits: Reader<Micro> = reader(
  { type: 'number', minimum: 0, maximum: MAX_CREDITS },
  (value, path, faults) => {
    const amount = typeof value === 'number' ? microFromCredits(value) : undefined;
    if (amount !== undefined && amount >= 0) return amount;
    return faults.add(
      path,
      `must be a number of credits from 0 to ${MAX_CREDITS}, with at most six decimals`,
    );
  },
);

/** A limit of calls of new accounts, or null for none. */
function callLimit(description: string): Field<number | null> {
  const whole = number(1, MAX_CALL_LIMIT);
  const { anyOf } = whole.schema as { anyOf: readonly JsonSchema[] };
  const limit = reader({ anyOf: [...anyOf, { type: 'null' }] }, whole);
  return optional(limit, null, `${description}; null: no limit`);
}

/** The section `accounts`: bounds of accounts, and what new ones begin with. */
export const accountsSection = section({
  maxKeys: optional(
    number(1, 100_000),
    10_000,
    'Most keys of one account, including inactive ones; keys are never removed',
  ),
  maxKeyBytes: optional(
    number(1_000, 1_000_000_000),
    33_554_432,
    'Most bytes of the settings of all keys of one account, as JSON in UTF-8; Redis holds them all',
  ),
  overdraft: optional(
    credits,
    micro(0),
    'Overdraft of new accounts, in credits; existing accounts keep their overdraft and limits',
  ),
  rpmLimit: callLimit('Calls of all keys of a new account that may begin in a minute'),
  tpmLimit: callLimit('Tokens of all keys of a new account in a minute'),
  maxParallelRequests: callLimit('Calls of all keys of a new account in flight'),
});

/** The section `calls`: how much is kept of calls that were refused. */
export const callsSection = section({
  refusalsPerMinute: optional(
    number(0, 10_000),
    20,
    'Refused calls of one key and error code with their own entry in a minute; the rest of the minute shares one',
  ),
  refusalDays: optional(number(1, 3_650), 30, 'Days for which refused calls are kept'),
  refusalRows: optional(
    number(1, 100_000_000),
    1_000_000,
    'Most entries of refused calls, of all accounts; the oldest go first',
  ),
});
