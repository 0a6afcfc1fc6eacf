import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type FullLimit,
  fullLimits,
  type LimitOwner,
  type LimitStates,
  NO_CALL_LIMITS,
  placesOnly,
  subjectTo,
} from '../domain/call-limits.ts';
import { GatewayError } from '../domain/errors.ts';
import { type KeyAndAccountLimits, modelRefusalOf } from '../domain/rules.ts';
import type { Admission, Ledger } from '../ledger/ledger.ts';
import type { HeldCall, ReadCall } from './call.ts';
import { type Gatekeeper, ReplacedValue } from './gatekeeper.ts';
import { allLimits, clearLimitHeaders, limitRefusal, longestWait, setLimitHeaders } from './limits.ts';
import type { CallMetrics } from './observers.ts';
import type { CallQueue } from './queue/call-queue.ts';
import { shortage } from './shortage.ts';

/** Maximum reauthorizations of one request: a record that changes more often is being changed in a loop. */
export const REAUTHORIZE_MAX = 5;

export interface AdmitParts {
  readonly ledger: Ledger;
  readonly gatekeeper: Gatekeeper;
  readonly queue: CallQueue<HeldCall>;
  readonly metrics: Pick<CallMetrics, 'limited'>;
}

/** A call whose limits are full, with the record of its last check. */
interface LimitedCall {
  readonly limitedCall: ReadCall;
  readonly limits: LimitStates;
  readonly onlyLimits: boolean;
}

/**
 * Checks 10 to 12 of specification section 3, and the hold. A call that lacks only room in call limits may wait
 * (section 11). Rejects with the GatewayError of the first check that fails; undefined: the client left while its call
 * waited.
 */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadCall,
  parts: AdmitParts,
): Promise<HeldCall | undefined> {
  const { queue } = parts;
  const { compiled, body } = read;
  const limits = limitsOf(read);
  const isBehind = limits && queue.isOn && queue.isBehind(lineOf(read, limits));
  // Check 10 precedes the limits, so a call that it refuses does not wait.
  if (isBehind && !modelRefusalOf(compiled, body.model))
    return await waitForRoom(request, reply, read, parts);
  const result = await tryAdmit(request, reply, read, parts);
  if (!('limitedCall' in result)) return result;
  const { limitedCall, limits: states, onlyLimits } = result;
  if (onlyLimits && queue.isOn) return await waitForRoom(request, reply, limitedCall, parts, states);
  throw refusalBy(lackedBy(limitedCall, states), parts);
}

/**
 * Asks the ledger to admit a call. The ledger refuses a call authorized by an outdated record, which is then authorized
 * again with the current one, from check 3 on. So revocation is exact without another round trip.
 */
async function tryAdmit(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadCall,
  { ledger, gatekeeper, metrics }: AdmitParts,
): Promise<HeldCall | LimitedCall> {
  let call = read;
  for (let tries = 0; tries < REAUTHORIZE_MAX; tries++) {
    const refusal = modelRefusalOf(call.compiled, call.body.model);
    if (!refusal) {
      const admitted = await ledger.admit(admissionOf(call));
      if (admitted.verdict === 'ended') throw new ReplacedValue(call.compiled.key);
      if (admitted.verdict !== 'stale') {
        if (admitted.verdict === 'counted') throw noCountLeft(admitted, metrics);
        const { limits } = admitted;
        if (limits) setLimitHeaders(reply, call.endpoint.format, limits);
        if (admitted.verdict === 'held') return { ...call, waitedMs: 0, settlement: { isDone: false } };
        if (admitted.verdict !== 'limited')
          throw shortage(admitted, call, ledger.now(call.compiled.key.accountId));
        return { limitedCall: call, limits: admitted.limits, onlyLimits: admitted.onlyLimits };
      }
    } else if (call.recordIsCurrent) throw refusal;
    call = { ...call, compiled: await gatekeeper.authorize(request), recordIsCurrent: true };
  }
  throw new GatewayError('service_unavailable', 'The key is being changed too often. Try again shortly.');
}

/**
 * Waits for room in the call's limits. `limits`: their state when the ledger refused the call; undefined if it was not
 * tried because others are ahead. Each attempt repeats the checks from 3 on, with the current time and record.
 */
async function waitForRoom(
  request: FastifyRequest,
  reply: FastifyReply,
  read: ReadCall,
  parts: AdmitParts,
  limits?: LimitStates,
): Promise<HeldCall | undefined> {
  const { gatekeeper, ledger, queue } = parts;
  let call = read;
  const waiting = queue.join(
    {
      accountId: call.compiled.key.accountId,
      keyId: call.compiled.key.id,
      tokens: call.tokens,
      get limits() {
        return limitsOf(call) ?? NO_LIMITS;
      },
      async attempt() {
        const cached = gatekeeper.authorizeCached(request);
        call = {
          ...call,
          compiled: cached ?? (await gatekeeper.authorize(request)),
          recordIsCurrent: cached === undefined,
        };
        clearLimitHeaders(reply, call.endpoint.format);
        const result = await tryAdmit(request, reply, call, parts);
        if (!('limitedCall' in result)) return { held: result };
        call = result.limitedCall;
        return result;
      },
      giveBack: (held) => ledger.cancel(heldOf(held)),
    },
    limits,
  );
  const leave = () => waiting.leave();
  if (reply.raw.destroyed) leave();
  else reply.raw.once('close', leave);
  try {
    const outcome = await waiting.outcome;
    if (outcome.end === 'left') return undefined;
    if (outcome.end === 'limited') return await confirmLimited(request, reply, call, parts, outcome.full);
    return { ...outcome.held, waitedMs: outcome.waitedMs };
  } finally {
    reply.raw.off('close', leave);
    if (reply.raw.destroyed) waiting.answered();
    else reply.raw.once('close', waiting.answered);
  }
}

/**
 * Refuses a call that the queue does not accept. The queue uses the record that the call came with, and has not tried a
 * call behind others. If the record has changed since, the ledger decides.
 */
async function confirmLimited(
  request: FastifyRequest,
  reply: FastifyReply,
  call: ReadCall,
  parts: AdmitParts,
  full: readonly FullLimit[],
): Promise<HeldCall> {
  const compiled = await parts.gatekeeper.authorize(request);
  // The waits of limits that others are queued for may be unknown or over.
  if (compiled === call.compiled)
    throw refusalBy(full.length > 0 ? full : allLimits(limitsOf(call) ?? NO_LIMITS), parts);
  clearLimitHeaders(reply, call.endpoint.format);
  const result = await tryAdmit(request, reply, { ...call, compiled, recordIsCurrent: true }, parts);
  if (!('limitedCall' in result)) return result;
  throw refusalBy(lackedBy(result.limitedCall, result.limits), parts);
}

const NO_LIMITS: KeyAndAccountLimits = { key: NO_CALL_LIMITS, account: NO_CALL_LIMITS };

function limitsOf({ compiled: { limits }, endpoint }: ReadCall): KeyAndAccountLimits | undefined {
  if (!limits || !endpoint.isCounting) return limits;
  return { key: placesOnly(limits.key), account: placesOnly(limits.account) };
}

/** Limits without room for a call that Redis refused. */
function lackedBy(call: ReadCall, states: LimitStates): FullLimit[] {
  return subjectTo(limitsOf(call) ?? NO_LIMITS, fullLimits(states, call.tokens));
}

function lineOf({ compiled: { key }, tokens }: ReadCall, limits: KeyAndAccountLimits) {
  return { accountId: key.accountId, keyId: key.id, limits, tokens };
}

function heldOf({ requestId, compiled: { key } }: HeldCall) {
  return { requestId, accountId: key.accountId, keyId: key.id };
}

/** The 429 for a call that counts tokens, when no count of the minute is left; counts it. */
function noCountLeft(
  { owner, limit, waitMs }: { readonly owner: LimitOwner; readonly limit: number; readonly waitMs: number },
  metrics: AdmitParts['metrics'],
): GatewayError {
  metrics.limited(owner, 'rpm_limit');
  const message = `This ${owner} has counted tokens ${limit} times within a minute; try again in ${Math.ceil(waitMs / 1_000)} s.`;
  const facts = { limit: 'rpm_limit', of: owner, retry_after_ms: waitMs };
  return new GatewayError('rate_limit_exceeded', message, null, undefined, { retryAfterMs: waitMs, facts });
}

/** The 429 for the limit with the longest wait; counts it. */
export function refusalBy(
  full: readonly FullLimit[],
  { metrics }: Pick<AdmitParts, 'metrics'>,
): GatewayError {
  const limit = longestWait(full);
  if (!limit) throw new Error('a call that no limit refuses is refused by limits');
  metrics.limited(limit.owner, limit.name);
  return limitRefusal(limit);
}

function admissionOf({ requestId, compiled, hold, estimate, tokens, body, endpoint }: ReadCall): Admission {
  const { key, accountVersion, limits } = compiled;
  const taken = endpoint.isCounting
    ? { ...(limits ?? NO_LIMITS), tokens: undefined }
    : limits && { ...limits, tokens };
  return {
    requestId,
    accountId: key.accountId,
    keyId: key.id,
    keyVersion: key.version,
    accountVersion,
    hold,
    estimate,
    spendingLimit: key.spendingLimit,
    spendingPeriod: key.spendingPeriod,
    limits: taken,
    valueEndsAt: compiled.valueEndsAt,
    model: body.model.slug,
    category: body.model.category,
    endpoint: endpoint.path,
  };
}
