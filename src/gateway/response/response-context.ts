import type { Ledger } from '../../ledger/ledger.ts';
import type { CallMetrics, Tracing } from '../observers.ts';
import type { CallRecorder } from '../record/call-recorder.ts';
import type { LastTargets } from '../targets/order.ts';
import type { TargetHealth } from '../targets/target-health.ts';
import type { StreamUsage } from '../upstream/stream-usage.ts';
import type { CacheShares } from './cache-shares.ts';
import type { OpenCalls } from './open-calls.ts';

/** What the answers of all calls share. */
export interface ResponseContext {
  readonly ledger: Ledger;
  readonly requestTimeoutMs: number;
  /** Longest wait for the head of a stream, over all tries of its call. */
  readonly headersTimeoutMs: number;
  readonly targets: TargetSettings;
  /** KEY_PREFIX, by which key values are masked in records. */
  readonly keyPrefix: string;
  readonly hiddenTokensPerSecond: number;
  readonly openCalls: OpenCalls;
  readonly cacheShares: CacheShares;
  readonly metrics: CallMetrics;
  readonly recorder: Pick<CallRecorder, 'refused' | 'ended'>;
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** Default of `limits.attempts`. */
export const DEFAULT_ATTEMPTS = 3;

/** How calls go from target to target. */
export interface TargetSettings {
  readonly health: TargetHealth;
  /** Maximum targets per call. */
  readonly attempts: number;
  /** Whether a call continues after an `uncertain` failure. */
  readonly retryUncertain: boolean;
  readonly lastTargets: LastTargets;
  readonly streamUsage: StreamUsage;
  /** Decides with a conversation's name which target it has (`Book.secret`). */
  readonly secret: string;
}
