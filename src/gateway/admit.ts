import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../domain/errors.ts';
import { modelRefusalOf } from '../domain/rules.ts';
import type { Admission, Ledger } from '../ledger/ledger.ts';
import type { HeldCall, ReadCall } from './call.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import { shortage } from './shortage.ts';

/** A record that changes more often than this within one request is being changed in a loop. */
const REAUTHORISE_MAX = 5;

/**
 * Checks 10 to 12 of specification section 3, and the hold. The ledger refuses a call that was authorised by a record which
 * is not the current one; such a call is authorised again, from check 3 on, by the current record. So revocation is exact
 * without a round trip of its own. Throws the GatewayError of the first check that fails.
 */
export async function admit(
  request: FastifyRequest,
  read: ReadCall,
  ledger: Ledger,
  gatekeeper: Gatekeeper,
): Promise<HeldCall> {
  let call = read;
  for (let tries = 0; tries < REAUTHORISE_MAX; tries++) {
    const refusal = modelRefusalOf(call.compiled, call.body.model);
    if (!refusal) {
      const admitted = await ledger.admit(admissionOf(call));
      if (admitted.verdict === 'held') return { ...call, epoch: admitted.epoch, isSettled: false };
      if (admitted.verdict !== 'stale') throw shortage(admitted, call);
    } else if (call.recordIsCurrent) throw refusal;
    call = { ...call, compiled: await gatekeeper.authorise(request), recordIsCurrent: true };
  }
  throw new GatewayError(
    'service_unavailable',
    'The key is being changed again and again. Try again shortly.',
  );
}

function admissionOf({ requestId, compiled, hold, estimate, body, endpoint }: ReadCall): Admission {
  const { key, accountVersion } = compiled;
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
    model: body.model.slug,
    category: body.model.category,
    endpoint: endpoint.path,
  };
}
