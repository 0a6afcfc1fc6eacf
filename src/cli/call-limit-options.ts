import type { Command } from 'commander';
import type { CallLimitsView } from '../api/keys/key-view.ts';
import { CALL_LIMIT_FIELDS, type CallLimits } from '../domain/call-limits.ts';
import { callLimit } from './arguments.ts';

/** Limits of calls as options; false if one is to be lifted. */
export type CallLimitOptions = { readonly [Limit in keyof CallLimits]?: number | false };

/** Gives a command the options that set and lift limits of calls (specification section 11). */
export function withCallLimits(command: Command): Command {
  return command
    .option('--rpm-limit <calls>', 'maximum calls per minute', callLimit)
    .option('--no-rpm-limit', 'no limit on calls per minute')
    .option('--tpm-limit <tokens>', 'maximum tokens per minute', callLimit)
    .option('--no-tpm-limit', 'no limit on tokens per minute')
    .option('--max-parallel-requests <calls>', 'maximum calls in flight', callLimit)
    .option('--no-max-parallel-requests', 'no limit on calls in flight');
}

/** The limits that were given, under their names in the API; null: none from now on. */
export function callLimitFields(options: CallLimitOptions): Partial<CallLimitsView> {
  const given = (Object.keys(CALL_LIMIT_FIELDS) as (keyof CallLimits)[]).filter(
    (limit) => options[limit] !== undefined,
  );
  return Object.fromEntries(given.map((limit) => [CALL_LIMIT_FIELDS[limit], options[limit] || null]));
}

/** Cell of a table with the limits of a key or account. */
export function callLimitsCell({ rpm_limit, tpm_limit, max_parallel_requests }: CallLimitsView): string {
  const limits = [
    ...(rpm_limit === null ? [] : [`${rpm_limit} rpm`]),
    ...(tpm_limit === null ? [] : [`${tpm_limit} tpm`]),
    ...(max_parallel_requests === null ? [] : [`${max_parallel_requests} at once`]),
  ];
  return limits.join(', ') || 'any';
}
