import { type CallLimits, MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import { readCallLimit } from '../domain/key-fields.ts';
import { Type } from './docs/json-type.ts';

const FIELDS = {
  rpmLimit: 'rpm_limit',
  tpmLimit: 'tpm_limit',
  maxParallelRequests: 'max_parallel_requests',
} as const satisfies Record<keyof CallLimits, string>;

/** Schemas of the limits of calls (specification section 11) of `whose` calls, such as "the key's". */
export function callLimitSchemas(whose: string) {
  return {
    rpm_limit: callLimit(`Most of ${whose} calls that may begin in a minute.`),
    tpm_limit: callLimit(
      `Most tokens of ${whose} calls in a minute: input that is not cached, cache writes and output.`,
    ),
    max_parallel_requests: callLimit(`Most of ${whose} calls that may be in flight at once.`),
  };
}

function callLimit(description: string) {
  return Type.Union([Type.Integer({ minimum: 1, maximum: MAX_CALL_LIMIT }), Type.Null()], {
    description: `${description} null: no limit.`,
  });
}

/** The limits of calls that a body sets; none that it does not name. Throws `invalid_field`. */
export function callLimitFields(body: Readonly<Record<string, unknown>>): Partial<CallLimits> {
  const limits: { -readonly [Limit in keyof CallLimits]?: CallLimits[Limit] } = {};
  for (const limit of Object.keys(FIELDS) as (keyof CallLimits)[]) {
    const value = body[FIELDS[limit]];
    if (value !== undefined) limits[limit] = readCallLimit(FIELDS[limit], value);
  }
  return limits;
}
