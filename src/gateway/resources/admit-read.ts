import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderResource } from '../../book/resources.ts';
import { type FullLimit, fullLimits, type LimitStates } from '../../domain/call-limits.ts';
import { micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { type CompiledKey, modelRefusalOf } from '../../domain/rules.ts';
import type { Admission, HoldId } from '../../ledger/ledger.ts';
import { type AdmitParts, REAUTHORIZE_MAX, refusalBy } from '../admit.ts';
import type { Endpoint } from '../endpoints.ts';
import { ReplacedValue } from '../gatekeeper.ts';
import { allLimits, setLimitHeaders } from '../limits.ts';

/** A read of a job by a key that may use the job's model. */
interface JobRead {
  readonly callerKey: CompiledKey;
  readonly resource: ProviderResource;
  readonly endpoint: Endpoint;
  /** The route's path in metrics. */
  readonly label: string;
}

/**
 * Takes a slot and a request from the limits of key and account (specification section 11), so that a key with a limit
 * of 1 can't poll without bound. Needs no credits. Throws the GatewayError of the first check that fails. A read does
 * not wait for room: the client polls again.
 *
 * Resolves with the function that ends the read.
 */
export async function admitRead(
  request: FastifyRequest,
  reply: FastifyReply,
  read: JobRead,
  parts: AdmitParts,
): Promise<() => void> {
  const { ledger, gatekeeper, queue } = parts;
  let { callerKey } = read;
  for (let tries = 0; tries < REAUTHORIZE_MAX; tries++) {
    const { limits } = callerKey;
    if (!limits) return noPlace;
    const { accountId, id: keyId } = callerKey.key;
    // Calls waiting in this gateway come first.
    if (queue.isOn && queue.isBehind({ accountId, keyId, limits, tokens: 0 }))
      throw refusalBy(allLimits(limits), parts);
    const admission = admissionOf(request.id, { ...read, callerKey });
    const admitted = await ledger.admit(admission);
    if (admitted.verdict === 'ended') throw new ReplacedValue(callerKey.key);
    if ('limits' in admitted && admitted.limits)
      setLimitHeaders(reply, read.endpoint.format, admitted.limits);
    if (admitted.verdict === 'limited') throw refusalBy(fullFor(admitted.limits), parts);
    if (admitted.verdict === 'held') return once(() => end(admission, parts));
    if (admitted.verdict !== 'stale') throw new Error('a read of a job was asked for credits');
    callerKey = await gatekeeper.authorize(request);
    const { category } = read.endpoint;
    const refusal = modelRefusalOf(callerKey, { slug: read.resource.model, category });
    if (refusal) throw refusal;
  }
  throw new GatewayError('service_unavailable', 'The key is being changed too often. Try again shortly.');
}

function admissionOf(requestId: string, { callerKey, resource, endpoint, label }: JobRead): Admission {
  const { key, accountVersion, limits, valueEndsAt } = callerKey;
  return {
    requestId,
    accountId: key.accountId,
    keyId: key.id,
    keyVersion: key.version,
    accountVersion,
    hold: micro(0),
    estimate: micro(0),
    spendingLimit: null,
    spendingPeriod: key.spendingPeriod,
    limits: limits && { ...limits, tokens: 0 },
    valueEndsAt,
    model: resource.model,
    category: endpoint.category,
    endpoint: label,
    isRead: true,
  };
}

function end({ requestId, accountId, keyId }: HoldId, { ledger, queue }: AdmitParts): void {
  ledger.endRead({ requestId, accountId, keyId });
  queue.ended(accountId, keyId);
}

/** A read uses no tokens, so an overdrawn token limit does not block it. */
function fullFor(states: LimitStates): FullLimit[] {
  return fullLimits(states, 0).filter(({ name }) => name !== 'tpm_limit');
}

function noPlace(): void {}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
