import type { CallLimits } from '../../domain/call-limits.ts';

/** Limits of calls as keys and accounts show them (specification section 11); null: no limit. */
export interface CallLimitsView {
  readonly rpm_limit: number | null;
  readonly tpm_limit: number | null;
  readonly max_parallel_requests: number | null;
}

/** The limits of calls of a record, under their names in the API. */
export function callLimitsView({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): CallLimitsView {
  return { rpm_limit: rpmLimit, tpm_limit: tpmLimit, max_parallel_requests: maxParallelRequests };
}
