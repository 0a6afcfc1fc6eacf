import { type Micro, micro } from '../domain/credits.ts';
import type { EntryDraft, Kept, Outcome, Usage } from '../domain/ledger-entry.ts';
import { chargeFor } from '../domain/price.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HeldCall, ReadCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallBody } from './request/call-body.ts';

/** Ids that the journal carries of one answer: they take memory in Redis while the book is away. */
const MAX_JOURNALLED = 100;
/** PostgreSQL indexes no more than 2.7 KB, and takes no U+0000; one id that it refuses would keep back the others. */
const MAX_ID_BYTES = 2_000;

/** How a call ended: what the client was answered, and what it used (undefined: nothing is charged). */
export interface Ending {
  /** 499 where the client left first. */
  readonly status: number;
  readonly outcome: Outcome;
  readonly usage: Usage | undefined;
  readonly estimated: boolean;
  /** Ids under which the upstream keeps the answer, or parts of it. */
  readonly resourceIds?: readonly string[] | undefined;
}

/**
 * Turns the hold of a call into its charge, and returns the charge; `onWire` is called when the end of the answer may
 * follow. Throws RangeError, and leaves the hold as it is, where the usage costs more than a safe integer of micro-credits.
 */
export function settleCall(ledger: Ledger, call: HeldCall, ending: Ending, onWire: () => void): Micro {
  if (call.isSettled) throw new Error('a call is being settled twice');
  const { body, compiled } = call;
  const charge = ending.usage ? chargeOf(call, ending.usage) : micro(0);
  call.isSettled = true;
  const draft: EntryDraft = {
    id: call.requestId,
    type: 'charge',
    accountId: compiled.key.accountId,
    keyId: compiled.key.id,
    createdAt: Date.now(),
    model: body.model.slug,
    category: body.model.category,
    endpoint: call.endpoint.path,
    status: ending.status,
    outcome: ending.outcome,
    usage: ending.usage ? { ...ending.usage, requests: 1 } : {},
    estimated: ending.estimated,
    credits: micro(-charge),
    ...madeBy(call, ending),
  };
  ledger.settle(call.epoch, draft, onWire);
  return charge;
}

/** What a usage costs on this call's model, the price per request included. Throws RangeError as `settleCall` does. */
export function chargeOf(call: ReadCall, usage: Usage): Micro {
  return chargeFor(call.body.model.price, { ...usage, requests: 1 });
}

/** What kind of thing an endpoint makes, by the word in its path. */
export function kindOf(endpoint: Endpoint): string {
  return endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
}

function madeBy({ endpoint, body }: HeldCall, ending: Ending): Pick<EntryDraft, 'job' | 'kept'> {
  const { resourceIds, outcome, estimated, usage } = ending;
  const [id] = resourceIds ?? [];
  if (!resourceIds || id === undefined) return {};
  if (endpoint.makesJob) return { job: { upstream: body.model.upstream.name, id, kind: kindOf(endpoint) } };
  if (outcome !== 'complete') return {};
  return {
    kept: keptBy(endpoint, body, resourceIds.slice(0, MAX_JOURNALLED), estimated ? undefined : usage),
  };
}

/** What the upstream keeps of an answer under these ids. `usage` undefined: not reported. */
export function keptBy(
  endpoint: Endpoint,
  { model }: CallBody,
  ids: readonly string[],
  usage: Usage | undefined,
): Kept {
  return {
    upstream: model.upstream.name,
    kind: kindOf(endpoint),
    ids: ids.filter((id) => !id.includes('\0') && Buffer.byteLength(id) <= MAX_ID_BYTES),
    // The whole conversation stands behind the answer itself; behind a part of it, no more than was written.
    tokens: usage ? [total(usage), usage.output ?? 0] : null,
  };
}

function total({ input = 0, cachedInput = 0, cacheWrite = 0, output = 0 }: Usage): number {
  return input + cachedInput + cacheWrite + output;
}
