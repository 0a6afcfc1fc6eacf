import { boolean, number, optional, section } from './reader.ts';

const DAY_MS = 86_400_000;

/** The section `limits`: bounds of model calls. */
export const limitsSection = section({
  requestTimeoutMs: optional(
    number(1, DAY_MS),
    1_800_000,
    'Longest model call, from its first byte to its last, in milliseconds',
  ),
  headersTimeoutMs: optional(
    number(1, DAY_MS),
    300_000,
    'Longest wait until an upstream begins a streamed answer, in milliseconds; other answers may begin as late as a call may last',
  ),
  idleTimeoutMs: optional(
    number(1, DAY_MS),
    600_000,
    'Longest silence of an upstream within an answer, in milliseconds',
  ),
  readOnMs: optional(
    number(0, DAY_MS),
    60_000,
    'Longest time in milliseconds that an answer is read on for its usage after its client left; 0: it is cancelled at once, and its cost estimated',
  ),
  hiddenTokensPerSecond: optional(
    number(0, 1_000_000),
    50,
    'Tokens of hidden reasoning that an estimate without a report counts for each second until the first visible output of a text model',
  ),
  imageTokens: optional(
    number(1, 10_000_000),
    20_000,
    'Most tokens that one picture in a request can cost, for models without imageTokens; held until the call ends',
  ),
  fileTokens: optional(
    number(1, 100_000_000),
    undefined,
    "Most tokens that one document or file in a request can cost; held until the call ends. Default: the model's whole context",
  ),
  contextTokens: optional(
    number(1, 100_000_000),
    1_000_000,
    'Most tokens that a model without contextWindow reads in one pass; no hold counts more for a pass',
  ),
  toolRounds: optional(
    number(1, 1_000),
    3,
    'Uses of tools that the provider runs, such as web search, where the request sets no bound; sent as max_tool_calls or max_uses, and held',
  ),
  toolTokens: optional(
    number(1, 100_000_000),
    50_000,
    'Most tokens that one such use adds to the input; sent as max_content_tokens of web fetch, and held for each use',
  ),
  attempts: optional(
    number(1, 100),
    3,
    'Most targets of a model that are asked for one call, one after the other',
  ),
  retryUnsure: optional(
    boolean,
    false,
    'true: a call also goes on to the next target after a timeout, or a connection that broke after the request was sent. The provider may bill both',
  ),
  maxQueueMs: optional(
    number(0, 600_000),
    0,
    'Longest time in milliseconds that a call waits for room in rpm_limit, tpm_limit and max_parallel_requests; 0: it is refused with 429 at once',
  ),
  waitingCalls: optional(
    number(1, 1_000_000),
    5_000,
    'Calls of one gateway that wait for Redis at once; more are refused with 503. As many may wait for limits of calls; more are refused with 429',
  ),
  memoryMb: optional(
    number(256, 10_000_000),
    undefined,
    'Memory in MiB that one gateway process may use; calls and connections beyond it are refused with 503. Default: that of the container or machine, divided by WORKERS, and at most twice the heap of Node',
  ),
  journalEntries: optional(
    number(1, 1_000_000_000),
    1_000_000,
    'Ledger entries that wait for the database, of all gateways; beyond it calls are refused with 503',
  ),
});
