import { type CallLimits, limitedTokens, tokensTaken } from '../domain/call-limits.ts';
import { type Micro, micro } from '../domain/credits.ts';
import type { EntryDraft, Outcome, ResourceIds } from '../domain/ledger-entry.ts';
import { appliedUnits, chargeFor, inputTokens, multiplierOf, TIMES_ONE, unitsFor } from '../domain/price.ts';
import type { Usage } from '../domain/usage.ts';
import type { Ledger, TokenCorrection } from '../ledger/ledger.ts';
import type { HeldCall, ReadCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';

/**
 * Most bytes of ids that the journal carries for one answer; they take memory in Redis while the book is away. There is
 * room for some 1,200 ids of OpenAI's length (51 to 53 bytes); an agent's long answer has a few hundred items. Later
 * calls cannot refer to parts beyond that.
 */
const MAX_IDS_BYTES = 64 * 1024;
/**
 * Longest id that is recorded. PostgreSQL indexes at most 2.7 KB and stores no U+0000; one bad id would block its
 * batch.
 */
const MAX_ID_BYTES = 2_000;

/** Ending of a call: the answer to the client, and the usage that is charged (undefined: nothing is). */
export interface Ending {
  /** 499 where the client left first. */
  readonly status: number;
  readonly outcome: Outcome;
  readonly usage: Usage | undefined;
  readonly estimated: boolean;
  /** Service tiers as the answer reports them; undefined: it does not, and what was asked for counts. */
  readonly serviceTiers?: readonly string[] | undefined;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[] | undefined;
}

/**
 * Turns the hold of a call into its charge, and returns the charge; `onWire` is called when the end of the answer may
 * follow. Throws RangeError, and leaves the hold as it is, where the usage costs more than a safe integer of micro-credits.
 */
export function settleCall(ledger: Ledger, call: HeldCall, ending: Ending, onWire: () => void): Micro {
  if (call.isSettled) throw new Error('a call is being settled twice');
  const { body, compiled } = call;
  const charge = ending.usage ? chargeOf(call, ending.usage, ending.serviceTiers) : micro(0);
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
    durationMs: Math.round(performance.now() - call.startedAt),
    streamed: body.isStream,
    upstream: body.model.upstream.name,
    ...pricesOf(call, ending),
    ...resourcesOf(call, ending),
  };
  ledger.settle(draft, onWire, correctionOf(call, ending.usage));
  return charge;
}

/**
 * Tokens by which the use of a call differed from what its admission took; undefined where it has no limit of tokens.
 */
function correctionOf(call: HeldCall, usage: Usage | undefined): TokenCorrection | undefined {
  const { limits } = call.compiled;
  if (!limits || (limits.key.tpmLimit === null && limits.account.tpmLimit === null)) return undefined;
  const used = usage ? limitedTokens(usage) : 0;
  const beyond = (of: CallLimits) => (of.tpmLimit === null ? 0 : used - tokensTaken(of, call.tokens));
  return { key: beyond(limits.key), account: beyond(limits.account) };
}

/**
 * What a usage costs on this call's model, the price per request included. `serviceTiers`: as the answer reports them. Throws
 * RangeError as `settleCall` does.
 */
export function chargeOf(call: ReadCall, usage: Usage, serviceTiers?: readonly string[]): Micro {
  const { price } = call.body.model;
  return chargeFor(price, { ...usage, requests: 1 }, multiplierOf(price, serviceTiers ?? call.serviceTiers));
}

/** The prices from which the charge can be computed again, and the cost to the provider where the list has it. */
function pricesOf(
  call: HeldCall,
  { usage, serviceTiers = call.serviceTiers }: Ending,
): Pick<EntryDraft, 'price' | 'multiplier' | 'cost'> {
  if (!usage) return { price: {} };
  const { price, cost } = call.body.model;
  const used: Usage = { ...usage, requests: 1 };
  const multiplier = multiplierOf(price, serviceTiers);
  return {
    price: appliedUnits(unitsFor(price, used), used),
    ...(multiplier === TIMES_ONE ? {} : { multiplier }),
    ...(cost ? { cost: chargeFor(cost, used, multiplier) } : {}),
  };
}

/** The kind of resource that an endpoint creates, by the word in its path: `responses`, `videos`. */
export function resourceKind(endpoint: Endpoint): string {
  return endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
}

function resourcesOf({ endpoint, body }: HeldCall, ending: Ending): Pick<EntryDraft, 'job' | 'kept'> {
  const { resourceIds, outcome, estimated, usage } = ending;
  const [id] = resourceIds ?? [];
  if (!resourceIds || id === undefined) return {};
  const upstream = body.model.upstream.name;
  const kind = resourceKind(endpoint);
  if (endpoint.makesJob) return { job: { upstream, id, kind } };
  if (outcome !== 'complete') return {};
  // A call that refers to the answer reads the whole conversation; one that refers to a part reads at most the output.
  const tokens: ResourceIds['tokens'] = usage && !estimated ? [total(usage), usage.output ?? 0] : null;
  return { kept: { upstream, kind, ids: journalledIds(resourceIds), tokens } };
}

/** The first of the ids that together stay within the journal's room for one answer. */
function journalledIds(ids: readonly string[]): string[] {
  const journalled: string[] = [];
  let room = MAX_IDS_BYTES;
  for (const id of ids) {
    const bytes = Buffer.byteLength(id);
    if (bytes > MAX_ID_BYTES || id.includes('\0')) continue;
    room -= bytes;
    if (room < 0) break;
    journalled.push(id);
  }
  return journalled;
}

function total({ output = 0, outputAudio = 0, outputImage = 0, ...usage }: Usage): number {
  return inputTokens(usage) + output + outputAudio + outputImage;
}
