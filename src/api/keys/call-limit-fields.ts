import { CALL_LIMIT_FIELDS, type CallLimits, MAX_CALL_LIMIT } from '../../domain/call-limits.ts';
import { readCallLimit } from '../../domain/key-readers.ts';
import { Type } from '../openapi/json-type.ts';

/** Schemas of the limits of calls (specification section 11) of `whose` calls, such as "the key's". */
export function callLimitSchemas(whose: string) {
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: callLimit(`Maximum of ${whose} calls per minute.`),
    [CALL_LIMIT_FIELDS.tpmLimit]: callLimit(
      `Maximum of ${whose} tokens per minute: uncached input, cache writes and output.`,
    ),
    [CALL_LIMIT_FIELDS.maxParallelRequests]: callLimit(`Maximum of ${whose} calls in flight.`),
  };
}

function callLimit(description: string) {
  return Type.Union([Type.Integer({ minimum: 1, maximum: MAX_CALL_LIMIT }), Type.Null()], {
    description: `${description} null: no limit.`,
  });
}

/** The limits of calls that a body sets; none that it does not name. Throws `invalid_field`. */
export function readCallLimits(body: Readonly<Record<string, unknown>>): Partial<CallLimits> {
  const limits: { -readonly [Limit in keyof CallLimits]?: CallLimits[Limit] } = {};
  for (const limit of Object.keys(CALL_LIMIT_FIELDS) as (keyof CallLimits)[]) {
    const field = CALL_LIMIT_FIELDS[limit];
    const value = body[field];
    if (value !== undefined) limits[limit] = readCallLimit(field, value);
  }
  return limits;
}
