import { type Micro, micro } from '../domain/credits.ts';
import type { EntryDraft, Job, Outcome, Usage } from '../domain/ledger-entry.ts';
import { chargeFor } from '../domain/price.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Call } from './call.ts';
import type { Endpoint } from './endpoints.ts';

/** How a call ended: what the client was answered, and what it used (undefined: nothing is charged). */
export interface Ending {
  /** 499 where the client left first. */
  readonly status: number;
  readonly outcome: Outcome;
  readonly usage: Usage | undefined;
  readonly estimated: boolean;
  /** Ids of what the upstream keeps of the answer. */
  readonly made?: readonly string[] | undefined;
}

/**
 * Turns the hold of a call into its charge, once; `onWire` is called when the end of the answer may follow. Throws
 * RangeError, and leaves the hold as it is, where the usage costs more than a safe integer of micro-credits.
 */
export function settleCall(ledger: Ledger, call: Call, ending: Ending, onWire: () => void): Micro {
  const { epoch, body, compiled } = call;
  if (epoch === undefined || !body) throw new Error('settling a call that was not admitted');
  const charge = ending.usage ? chargeOf(call, ending.usage) : micro(0);
  call.epoch = undefined;
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
    ...jobOf(call, ending),
  };
  ledger.settle(epoch, draft, onWire);
  return charge;
}

/** What a usage costs on this call's model, the price per request included. */
export function chargeOf(call: Call, usage: Usage): Micro {
  if (!call.body) throw new Error('pricing a call that was not read');
  return chargeFor(call.body.model.price, { ...usage, requests: 1 });
}

/** What kind of thing an endpoint makes, by the word in its path. */
export function kindOf(endpoint: Endpoint): string {
  return endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
}

function jobOf({ endpoint, body }: Call, { made }: Ending): { job?: Job } {
  const [id] = (endpoint.makesJob && made) || [];
  if (id === undefined || !body) return {};
  return { job: { upstream: body.model.upstream.name, id, kind: kindOf(endpoint) } };
}
