/** Causes of a target's failure, and how each counts (specification section 12). */
export const CAUSES = {
  /** No connection was made. */
  connection: 'at once',
  /** The TLS handshake failed. */
  tls: 'at once',
  /** The target refused the gateway's credential, or there is none. */
  credential: 'at once',
  timeout: 'counted',
  rate_limit: 'counted',
  error: 'counted',
  /** 403, with which some providers answer a prompt. */
  forbidden: 'never',
} as const satisfies Record<string, 'at once' | 'counted' | 'never'>;

export type Cause = keyof typeof CAUSES;
/** Cause for which a target can be out. */
export type OutCause = Exclude<Cause, 'forbidden'>;
export const OUT_CAUSES = [
  'connection',
  'tls',
  'credential',
  'timeout',
  'rate_limit',
  'error',
] as const satisfies readonly OutCause[];
