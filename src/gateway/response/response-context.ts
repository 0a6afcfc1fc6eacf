import type { Ledger } from '../../ledger/ledger.ts';
import type { CallMetrics, Tracing } from '../observers.ts';
import type { CallRecorder } from '../record/call-recorder.ts';
import type { TargetSettings } from '../targets/tries.ts';
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
