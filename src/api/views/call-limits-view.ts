import { CALL_LIMIT_FIELDS, type CallLimits } from '../../domain/call-limits.ts';
import type { callLimitSchemas } from '../call-limit-fields.ts';
import type { ObjectSchema, Static } from '../docs/json-type.ts';

/** Limits of calls as keys and accounts show them (specification section 11); null: no limit. */
export type CallLimitsView = Static<ObjectSchema<ReturnType<typeof callLimitSchemas>>>;

/** The limits of calls of a record, under their names in the API. */
export function callLimitsView({ rpmLimit, tpmLimit, maxParallelRequests }: CallLimits): CallLimitsView {
  return {
    [CALL_LIMIT_FIELDS.rpmLimit]: rpmLimit,
    [CALL_LIMIT_FIELDS.tpmLimit]: tpmLimit,
    [CALL_LIMIT_FIELDS.maxParallelRequests]: maxParallelRequests,
  };
}
