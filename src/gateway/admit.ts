import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FullLimit, fullLimits, type LimitOwner, NO_CALL_LIMITS } from '../domain/call-limits.ts';
import { GatewayError } from '../domain/errors.ts';
import { type KeyAndAccountLimits, modelRefusalOf } from '../domain/rules.ts';
import type { Admission, Ledger } from '../ledger/ledger.ts';
import type { AdmittedCall, PlannedCall } from './call.ts';
import { type Gatekeeper, ReplacedValue } from './gatekeeper.ts';
import { limitRefusal, longestWait, setLimitHeaders } from './limits.ts';
import type { CallMetrics } from './observers.ts';
import { shortage } from './shortage.ts';

/** Maximum reauthorizations of one request: a record that changes more often is being changed in a loop. */
const MAX_REAUTHORIZATIONS = 5;

export interface AdmitParts {
  readonly ledger: Ledger;
  readonly gatekeeper: Gatekeeper;
  readonly metrics: Pick<CallMetrics, 'limited'>;
}

/**
 * Checks 10 to 12 of specification section 3, and the hold. The ledger refuses a call authorized by an outdated record,
 * which is then authorized again with the current one, from check 3 on. So revocation is exact without another round
 * trip. Rejects with the GatewayError of the first check that fails.
 */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  call: PlannedCall,
  { ledger, gatekeeper, metrics }: AdmitParts,
): Promise<AdmittedCall> {
  for (let tries = 0; tries < MAX_REAUTHORIZATIONS; tries++) {
    const { accountId } = call.compiled.key;
    const refusal = modelRefusalOf(call.compiled, call.facts.model);
    if (!refusal) {
      const admitted = await ledger.admit(admissionOf(call));
      if (admitted.verdict === 'ended') throw new ReplacedValue(call.compiled.key);
      if (admitted.verdict !== 'stale') {
        if (admitted.verdict === 'counted') throw noCountLeft(admitted, metrics);
        const { limits } = admitted;
        if (limits) setLimitHeaders(reply, call.endpoint.format, limits);
        if (admitted.verdict === 'held')
          return Object.assign(call, { hold: call.quote.hold, admittedAt: ledger.now(accountId) });
        if (admitted.verdict === 'limited')
          throw refusalBy(fullLimits(admitted.limits, tokensOf(call)), metrics);
        const refused = shortage(admitted, call, ledger.now(accountId));
        const full = refused.facts?.limit;
        if (typeof full === 'object') metrics.limited(full.of, `spending_${full.period}`);
        throw refused;
      }
    } else if (call.recordIsCurrent) throw refusal;
    call.compiled = await gatekeeper.authorize(request);
    call.recordIsCurrent = true;
  }
  throw new GatewayError('service_unavailable', 'The key is being changed too often. Try again shortly.');
}

const NO_LIMITS: KeyAndAccountLimits = { key: NO_CALL_LIMITS, account: NO_CALL_LIMITS };

/** Tokens that the call takes from limits; undefined if it only counts tokens. */
function tokensOf({ endpoint, quote }: PlannedCall): number | undefined {
  return endpoint.isCounting ? undefined : quote.tokens;
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
export function refusalBy(full: readonly FullLimit[], metrics: AdmitParts['metrics']): GatewayError {
  const limit = longestWait(full);
  if (!limit) throw new Error('a call that no limit refuses is refused by limits');
  metrics.limited(limit.owner, limit.name);
  return limitRefusal(limit);
}

function admissionOf(call: PlannedCall): Admission {
  const { requestId, compiled, facts, quote, endpoint } = call;
  const { key, accountVersion, limits = endpoint.isCounting ? NO_LIMITS : undefined } = compiled;
  return {
    requestId,
    accountId: key.accountId,
    keyId: key.id,
    personId: key.personId,
    keyVersion: key.version,
    accountVersion,
    hold: quote.hold,
    estimate: quote.estimate,
    spendingLimits: compiled.spendingLimits,
    limits: limits && { ...limits, tokens: tokensOf(call) },
    valueEndsAt: compiled.valueEndsAt,
    model: facts.model.slug,
    category: facts.model.category,
    endpoint: endpoint.path,
  };
}
