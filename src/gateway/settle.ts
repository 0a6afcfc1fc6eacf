import { type Bill, billOf, type Terms } from '../domain/bill.ts';
import { type CallLimits, tokensTaken } from '../domain/call-limits.ts';
import { targetName } from '../domain/catalog.ts';
import { type Micro, micro } from '../domain/credits.ts';
import type { EntryDraft, Outcome, ResourceIds } from '../domain/ledger-entry.ts';
import { TIMES_ONE } from '../domain/price.ts';
import { recorded, recordedUserAgent } from '../domain/refused-call.ts';
import { inputTokens, limitedTokens, outputTokens, type Usage } from '../domain/units.ts';
import type { Ledger, TokenCorrection } from '../ledger/ledger.ts';
import type { AdmittedCall, AttemptRecord, PlannedCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallError } from './response/provider-error.ts';

/**
 * Maximum bytes of ids in the journal per answer, which take memory in Redis while the book is down. Enough for some
 * 1,200 ids of OpenAI's length (51 to 53 bytes); an agent's long answer has a few hundred items. Later calls can't
 * refer to further parts.
 */
const MAX_IDS_BYTES = 64 * 1024;
/**
 * Maximum length of a recorded id. PostgreSQL indexes at most 2.7 KB and stores no U+0000; one bad id would block its
 * batch.
 */
const MAX_ID_BYTES = 2_000;

/** Ending of a call: the answer to the client, and the charged usage (undefined: nothing). */
export interface Ending {
  /** 499 if the client left first. */
  readonly status: number;
  readonly outcome: Outcome;
  readonly usage: Usage | undefined;
  readonly estimated: boolean;
  /** What the answer reports about its bill besides the usage. */
  readonly terms?: Terms | undefined;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[] | undefined;
  /** Error that the client got, if any. */
  readonly error?: CallError | undefined;
  /** Milliseconds from the start of the call to the head of the answer; undefined: no head. */
  readonly firstByteMs?: number | undefined;
  readonly userAgent?: string | null;
}

/**
 * Turns the hold of a call into its charge and returns the charge; calls `onWire` when the end of the answer may
 * follow. Throws RangeError, leaving the hold, if the usage costs more than a safe integer of micro-credits.
 */
export function settleCall(ledger: Ledger, call: AdmittedCall, ending: Ending, onWire: () => void): Micro {
  if (call.isSettled) throw new Error('a call is being settled twice');
  const { facts, compiled } = call;
  const bill = ending.usage && billOfCall(call, ending.usage, ending.terms);
  const charge = bill?.charge ?? micro(0);
  call.isSettled = true;
  const draft: EntryDraft = {
    id: call.requestId,
    type: 'charge',
    accountId: compiled.key.accountId,
    keyId: compiled.key.id,
    ...(compiled.key.personId !== null && { personId: compiled.key.personId }),
    createdAt: Date.now(),
    admittedAt: call.admittedAt,
    model: facts.model.slug,
    category: facts.model.category,
    endpoint: call.endpoint.path,
    status: ending.status,
    outcome: ending.outcome,
    usage: bill?.usage ?? {},
    estimated: ending.estimated,
    credits: micro(-charge),
    durationMs: Math.round(performance.now() - call.startedAt),
    streamed: facts.isStream,
    upstream: facts.model.upstream.name,
    ...pricesOf(bill),
    ...attemptsOf(call.attempts, ending, bill),
    ...endOf(ending),
    ...resourcesOf(call, ending),
  };
  ledger.settle(draft, onWire, correctionOf(call, ending.usage));
  return charge;
}

/** Difference between used and admitted tokens; undefined without a token limit. */
function correctionOf(call: AdmittedCall, usage: Usage | undefined): TokenCorrection | undefined {
  const { limits } = call.compiled;
  if (!limits || (limits.key.tpmLimit === null && limits.account.tpmLimit === null)) return undefined;
  const used = usage ? limitedTokens(usage) : 0;
  const beyond = (of: CallLimits) => (of.tpmLimit === null ? 0 : used - tokensTaken(of, call.quote.tokens));
  return { key: beyond(limits.key), account: beyond(limits.account) };
}

/** Bills a usage on this call's model. Throws RangeError like `settleCall`. */
export function billOfCall(call: PlannedCall, usage: Usage, terms: Terms = {}): Bill {
  return billOf(call.facts.model, usage, call.quote.serviceTiers, terms);
}

/** The prices that reproduce the charge, and the provider's cost if the price list has it. */
function pricesOf(bill: Bill | undefined): Pick<EntryDraft, 'price' | 'passes' | 'multiplier' | 'cost'> {
  if (!bill) return { price: {} };
  const { price, passes, multiplier, cost } = bill;
  return {
    price,
    ...(passes ? { passes } : {}),
    ...(multiplier === TIMES_ONE ? {} : { multiplier }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/**
 * The end of a call as seen by the client, with its texts as they are recorded; `headAt`: when the head of the answer
 * arrived, by `performance.now()`.
 */
export function seenEnd(
  { startedAt }: AdmittedCall,
  {
    error,
    headAt,
    agent,
    keyPrefix,
  }: {
    error: CallError | undefined;
    headAt: number | undefined;
    agent: string | undefined;
    keyPrefix: string;
  },
): Pick<Ending, 'error' | 'firstByteMs' | 'userAgent'> {
  const firstByteMs = headAt === undefined ? undefined : Math.round(headAt - startedAt);
  return recorded({ error, firstByteMs, userAgent: recordedUserAgent(agent) }, keyPrefix);
}

function endOf({ error, firstByteMs, userAgent }: Ending) {
  const { code = null, message = null, param = null } = error ?? {};
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(code === null ? {} : { code }),
    ...(message === null ? {} : { message }),
    ...(param === null ? {} : { param }),
    ...(userAgent ? { userAgent } : {}),
  };
}

/** The attempts, unless the rest of the entry says it all; their cost to the operator is part of the call's cost. */
function attemptsOf(
  attempts: readonly AttemptRecord[],
  { status }: Ending,
  bill: Bill | undefined,
): Pick<EntryDraft, 'attempts' | 'cost'> {
  if (attempts.length === 1 && attempts[0]?.status === status) return {};
  const costs = attempts.reduce((sum, { cost = 0 }) => sum + cost, 0);
  return {
    attempts: attempts.map(({ target, status: got, ms, usage }) => ({
      target,
      status: got,
      ms,
      ...(usage ? { usage } : {}),
    })),
    ...(costs > 0 ? { cost: micro((bill?.cost ?? 0) + costs) } : {}),
  };
}

/** Kind of resource that an endpoint creates, named as in its path: `responses`, `videos`. */
export function resourceKind(endpoint: Endpoint): string {
  return endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
}

function resourcesOf(
  { endpoint, facts }: AdmittedCall,
  ending: Ending,
): Pick<EntryDraft, 'job' | 'storedIds'> {
  const { resourceIds, outcome, estimated, usage } = ending;
  const [id] = resourceIds ?? [];
  if (!resourceIds || id === undefined) return {};
  const upstream = targetName(facts.model.upstream);
  const kind = resourceKind(endpoint);
  if (endpoint.makesJob) return { job: { upstream, id, kind } };
  // A client may know the id of an answer even if it left.
  const isWhole = outcome === 'complete' || (outcome === 'client_left' && !estimated);
  if (!isWhole) return {};
  // A call that refers to the answer reads the whole conversation; one that refers to a part reads at most the output.
  const tokens: ResourceIds['tokens'] =
    usage && !estimated ? [inputTokens(usage) + outputTokens(usage), usage.output ?? 0] : null;
  return { storedIds: { upstream, kind, ids: journalledIds(resourceIds), tokens } };
}

/** The first ids that fit the journal's limit per answer. */
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
