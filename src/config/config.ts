import type { CallLimits } from '../domain/call-limits.ts';
import type { Catalog, Model, Upstream } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';

/** The `url` of an upstream that is the demo provider, which the gateway itself starts. */
export const DEMO_URL = 'demo';

/** Calls that can have a line in the operator's log: those that were refused or failed, all, or none. */
export const LOGGED_CALLS = ['failed', 'all', 'none'] as const;
export type LoggedCalls = (typeof LOGGED_CALLS)[number];

/** Samplers, by their names in the OpenTelemetry specification. */
export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
type TraceSampler = (typeof TRACE_SAMPLERS)[number];

/** An upstream that is left out because environment variables that it names are not set, with its models. */
export interface UnconfiguredUpstream {
  readonly upstream: string;
  readonly variables: readonly string[];
  /** The models. Their upstream has a placeholder for its credential or address: for showing only. */
  readonly models: readonly Model[];
}

/** Everything that can be set, checked, defaulted and frozen (specification section 1). Times in milliseconds. */
export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** Normalized CIDRs. */
    readonly trustProxy: readonly string[];
    readonly bodyLimitBytes: number;
    /** Longest time from a connection's beginning, or a request's, until its head is there. */
    readonly headTimeoutMs: number;
    /** Longest time until all of a request is there. */
    readonly bodyTimeoutMs: number;
    /** How long a stopping gateway says so in /readyz, and serves on, before it stops accepting. */
    readonly drainDelayMs: number;
  };
  /** The limits of calls are those of new accounts. */
  readonly accounts: {
    /** Most keys of one account, inactive ones included. */
    readonly maxKeys: number;
    /** Most bytes of the settings of all keys of one account, as JSON in UTF-8. */
    readonly maxKeyBytes: number;
    /** Overdraft of new accounts. */
    readonly overdraft: Micro;
  } & CallLimits;
  /** Bounds of the record of refused calls. */
  readonly calls: {
    /** Entries of one key, code and minute; all others of the minute are one more. */
    readonly refusalsPerMinute: number;
    readonly refusalDays: number;
    /** Most entries, of all accounts. */
    readonly refusalRows: number;
  };
  readonly alerts: { readonly timeoutMs: number; readonly allowPrivateNetworks: boolean };
  readonly origins: { readonly allowMissing: boolean };
  readonly limits: {
    /** Longest request, from first byte to last; a hold outlives it by a minute. */
    readonly requestTimeoutMs: number;
    /** Longest wait for the head of a stream; another answer may begin as late as its call may last. */
    readonly headersTimeoutMs: number;
    /** Longest silence of an upstream within an answer. */
    readonly idleTimeoutMs: number;
    /** Longest time for which an answer is read on for its report after its client left; 0: it is cancelled at once. */
    readonly readOnMs: number;
    /** Tokens of hidden reasoning for each second of a text model without visible output, in estimates without a report. */
    readonly hiddenTokensPerSecond: number;
    /** Bound of one picture in tokens, for holds. */
    readonly imageTokens: number;
    /** Bound of one file in tokens, for holds; undefined: all that the model can read. */
    readonly fileTokens?: number | undefined;
    /** Tokens that a model can read in one pass: bounds input that is not in the request. */
    readonly contextTokens: number;
    /** Rounds of tools that a provider runs, if the request names no bound: sent, and held. */
    readonly toolRounds: number;
    /** Tokens that such a round adds to the input; also sent as the most of a fetched page. */
    readonly toolTokens: number;
    /** Most targets that are asked for one call; absent: 3. */
    readonly attempts?: number;
    /** Whether a call goes on to the next target if the one before may have begun to bill. */
    readonly retryUnsure?: boolean;
    /** Longest time that a call waits for room in limits of calls; 0: none waits. */
    readonly maxQueueMs: number;
    /** Calls of this process that wait at once for Redis, and as many for room in limits of calls. */
    readonly waitingCalls: number;
    /** Memory of this process in MiB; undefined: as much as it finds. */
    readonly memoryMb?: number | undefined;
    /** Ledger entries, of all gateways, that wait for the book before no more calls are admitted. */
    readonly journalEntries: number;
  };
  readonly pricing: {
    /** Credits that stand for one US dollar of the price list, in millionths. */
    readonly creditsPerUsd: number;
    /** Factor for list prices, in millionths. */
    readonly markup: number;
    /** Path of a newer copy of the price list; undefined: the package's. */
    readonly list: string | undefined;
    /** Treatment of requests that ask for something that their model has no price for. */
    readonly unpriced: 'refuse' | 'pass';
    /** Name and version of the list that was used; undefined: none was needed. */
    readonly version: string | undefined;
  };
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly catalog: Catalog;
  readonly unconfigured: readonly UnconfiguredUpstream[];
  /** Gateway processes that share the port. */
  readonly workers: number;
  readonly adminToken: string | undefined;
  readonly keyPrefix: string;
  readonly logLevel: string;
  /** Model calls that have a line in the log. */
  readonly logCalls: LoggedCalls;
  /** Absolute path. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly requireDurableRedis: boolean;
  /** Replicas that must have a hold before its call is sent upstream; 0: none. */
  readonly redisWaitReplicas: number;
  /** Time within which Redis must answer. Nobody can set it; tests of other things have more than COMMAND_TIMEOUT_MS. */
  readonly redisTimeoutMs?: number;
  /** Where traces go, as OpenTelemetry's own variables say; undefined: nowhere. */
  readonly tracing:
    | {
        /** URL of the collector's OTLP/HTTP route for traces. */
        readonly url: string;
        readonly sampler: TraceSampler;
        /** Share of the traces that begin here, 0 to 1; for the samplers by ratio. */
        readonly ratio: number;
      }
    | undefined;
  /** Warnings of a line each, to be logged once: upstreams left out for want of a credential, with their models. */
  readonly warnings: readonly string[];
}
