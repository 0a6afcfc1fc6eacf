import type { CallLimits } from '../domain/call-limits.ts';
import type { Catalog, Model, Upstream } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';
import type { MailSettings, OidcSettings } from './people.ts';

/** The `url` of an upstream for the demo provider, which the gateway starts. */
export const DEMO_URL = 'demo';

/** Which calls the operator's log records: refused and failed ones, all, or none. */
export const LOGGED_CALLS = ['failed', 'all', 'none'] as const;
export type LoggedCalls = (typeof LOGGED_CALLS)[number];

/** Samplers, by OpenTelemetry specification name. */
export const TRACE_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
type TraceSampler = (typeof TRACE_SAMPLERS)[number];

/** An upstream left out because its environment variables are not set, with its models. */
export interface UnconfiguredUpstream {
  readonly upstream: string;
  readonly variables: readonly string[];
  /** For display only: the upstream has a placeholder for its credential or address. */
  readonly models: readonly Model[];
}

/** All settings, validated, defaulted and frozen (specification section 1). Times in milliseconds. */
export interface Config {
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** URL at which people reach the gateway, without a trailing slash; undefined: that of the request. */
    readonly publicUrl?: string | undefined;
    /** Normalized CIDRs. */
    readonly trustProxy: readonly string[];
    readonly bodyLimitBytes: number;
    /** Time limit for the head, from the start of a connection or request. */
    readonly headTimeoutMs: number;
    /** How long an idle connection stays open: longer than a load balancer's, so that it closes first. */
    readonly keepAliveTimeoutMs: number;
    /** Time limit for the whole request. */
    readonly bodyTimeoutMs: number;
    /** Time during which a stopping gateway reports it in /readyz but keeps serving, before it stops accepting. */
    readonly drainDelayMs: number;
  };
  /** Call limits apply to new accounts. */
  readonly accounts: {
    /** Most keys per account, including inactive ones. */
    readonly maxKeys: number;
    /** Most bytes of the settings of all keys of an account, as JSON in UTF-8. */
    readonly maxKeyBytes: number;
    /** Overdraft of new accounts. */
    readonly overdraft: Micro;
  } & CallLimits;
  /** Bounds for the record of refused calls. */
  readonly calls: {
    /** Entries per key, code and minute; one more covers the rest of the minute. */
    readonly refusalsPerMinute: number;
    readonly refusalDays: number;
    /** Most entries over all accounts. */
    readonly refusalRows: number;
  };
  readonly alerts: {
    readonly timeoutMs: number;
    readonly allowPrivateNetworks: boolean;
    /** Normalized CIDRs. */
    readonly allow: readonly string[];
  };
  readonly origins: { readonly allowMissing: boolean };
  readonly limits: {
    /** Longest request, from first byte to last; its hold lives a minute longer. */
    readonly requestTimeoutMs: number;
    /** Longest wait for the head of a stream; other answers may start any time within the request timeout. */
    readonly headersTimeoutMs: number;
    /** Longest silence of an upstream within an answer. */
    readonly idleTimeoutMs: number;
    /** Time to keep reading an answer for its usage report after the client left; 0: cancel at once. */
    readonly readOnMs: number;
    /** Tokens of hidden reasoning per second of a text model without visible output, for estimates without a report. */
    readonly hiddenTokensPerSecond: number;
    /** Bound of the tokens of one image, for holds. */
    readonly imageTokens: number;
    /** Bound of the tokens of one file, for holds; undefined: the model's context window. */
    readonly fileTokens?: number | undefined;
    /** Default context window: bounds input that is not in the request. */
    readonly contextTokens: number;
    /** Rounds of provider-run tools if the request sets no bound: sent, and held. */
    readonly toolRounds: number;
    /** Tokens that such a round adds to the input; also sent as the limit of a fetched page. */
    readonly toolTokens: number;
    /** Most targets tried per call; absent: 3. */
    readonly attempts?: number;
    /** Whether a call moves to the next target if the previous one may already bill. */
    readonly retryUnsure?: boolean;
    /** Most calls of this process waiting for Redis. */
    readonly waitingCalls: number;
    /** Memory of this process in MiB; undefined: all available. */
    readonly memoryMb?: number | undefined;
    /** Ledger entries of all gateways that may wait for the book before admission stops. */
    readonly journalEntries: number;
  };
  readonly people: {
    /** Whether people can sign in with a password. */
    readonly passwords: boolean;
    /** Days that entries of the audit are kept; 0: for ever. */
    readonly auditDays: number;
    /** Identity providers; names are unique. */
    readonly oidc: readonly OidcSettings[];
  };
  /** Mail server; undefined: nothing is mailed. Set only with `server.publicUrl`. */
  readonly mail?: MailSettings | undefined;
  readonly pricing: {
    /** Credits per US dollar of the price list, in millionths. */
    readonly creditsPerUsd: number;
    /** Factor for list prices, in millionths. */
    readonly markup: number;
    /** Path of a newer price list; undefined: the package's list. */
    readonly list: string | undefined;
    /** Treatment of requests for features without a price. */
    readonly unpriced: 'refuse' | 'pass';
    /** Name and version of the list used; undefined: no list needed. */
    readonly version: string | undefined;
  };
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly catalog: Catalog;
  readonly unconfigured: readonly UnconfiguredUpstream[];
  /** Gateway processes that share the port. */
  readonly workers: number;
  readonly adminToken: string | undefined;
  /** Also opens /metrics, and nothing else. */
  readonly metricsToken: string | undefined;
  readonly keyPrefix: string;
  readonly logLevel: string;
  /** Model calls that the log records. */
  readonly logCalls: LoggedCalls;
  /** Absolute path. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly requireDurableRedis: boolean;
  /** Replicas that must have a hold before its call is sent upstream; 0: none. */
  readonly redisWaitReplicas: number;
  /** Time limit for a reply of Redis; undefined: COMMAND_TIMEOUT_MS. */
  readonly redisTimeoutMs: number | undefined;
  /** Trace export, from OpenTelemetry's variables; undefined: off. */
  readonly tracing:
    | {
        /** URL of the collector's OTLP/HTTP route for traces. */
        readonly url: string;
        readonly sampler: TraceSampler;
        /** Share of traces started here, 0 to 1; for ratio samplers. */
        readonly ratio: number;
      }
    | undefined;
  /** One-line warnings, logged once: upstreams left out for lack of a credential, with their models. */
  readonly warnings: readonly string[];
}
