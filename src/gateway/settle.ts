import { type Bill, billOf, type Terms } from '../domain/bill.ts';
import { type CallLimits, tokensTaken } from '../domain/call-limits.ts';
import { targetName } from '../domain/catalog.ts';
import { type Micro, micro } from '../domain/credits.ts';
import type { Attempt, EntryDraft, Outcome, ResourceIds } from '../domain/ledger-entry.ts';
import { TIMES_ONE } from '../domain/price.ts';
import { LONGEST_MESSAGE, LONGEST_NAME, recordedText, recordedUserAgent } from '../domain/refused-call.ts';
import { inputTokens, limitedTokens, outputTokens, type Usage } from '../domain/units.ts';
import type { Ledger, TokenCorrection } from '../ledger/ledger.ts';
import type { HeldCall, ReadCall } from './call.ts';
import type { Endpoint } from './endpoints.ts';
import type { CallError } from './response/provider-error.ts';

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
  /** 499 if the client left first. */
  readonly status: number;
  readonly outcome: Outcome;
  readonly usage: Usage | undefined;
  readonly estimated: boolean;
  /** What the answer reports of its bill beside the usage. */
  readonly terms?: Terms | undefined;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[] | undefined;
  /** Error that the client got; undefined: none. */
  readonly error?: CallError | undefined;
  /** Milliseconds from the first byte of the call until the head of the answer; undefined: none came. */
  readonly firstByteMs?: number | undefined;
  readonly userAgent?: string | null;
  /** Each try of the call, the last one too. */
  readonly attempts?: readonly TriedAttempt[] | undefined;
}

/** A try, with what it cost the operator if it failed and had reported usage. */
export interface TriedAttempt extends Attempt {
  readonly cost?: Micro | undefined;
}

/**
 * Turns the hold of a call into its charge, and returns the charge; `onWire` is called when the end of the answer may
 * follow. Throws RangeError, and leaves the hold as it is, if the usage costs more than a safe integer of micro-credits.
 */
export function settleCall(ledger: Ledger, call: HeldCall, ending: Ending, onWire: () => void): Micro {
  if (call.isSettled) throw new Error('a call is being settled twice');
  const { body, compiled } = call;
  const bill = ending.usage && billOfCall(call, ending.usage, ending.terms);
  const charge = bill?.charge ?? micro(0);
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
    usage: bill?.usage ?? {},
    estimated: ending.estimated,
    credits: micro(-charge),
    durationMs: Math.round(performance.now() - call.startedAt),
    streamed: body.isStream,
    upstream: body.model.upstream.name,
    ...pricesOf(bill),
    ...attemptsOf(ending, bill),
    ...endOf(ending),
    ...resourcesOf(call, ending),
  };
  ledger.settle(draft, onWire, correctionOf(call, ending.usage));
  return charge;
}

/**
 * Tokens by which the use of a call differed from what its admission took; undefined if it has no limit of tokens.
 */
function correctionOf(call: HeldCall, usage: Usage | undefined): TokenCorrection | undefined {
  const { limits } = call.compiled;
  if (!limits || (limits.key.tpmLimit === null && limits.account.tpmLimit === null)) return undefined;
  const used = usage ? limitedTokens(usage) : 0;
  const beyond = (of: CallLimits) => (of.tpmLimit === null ? 0 : used - tokensTaken(of, call.tokens));
  return { key: beyond(limits.key), account: beyond(limits.account) };
}

/** The bill of a usage on this call's model. Throws RangeError as `settleCall` does. */
export function billOfCall(call: ReadCall, usage: Usage, terms: Terms = {}): Bill {
  return billOf(call.body.model, usage, call.serviceTiers, terms);
}

/** The prices from which the charge can be computed again, and the cost to the provider if the list has it. */
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

/** What the client saw of the end of a call: `headAt` is when the head of the answer came, by `performance.now()`. */
export function seenEnd(
  { startedAt }: HeldCall,
  {
    error,
    headAt,
    agent,
  }: { error: CallError | undefined; headAt: number | undefined; agent: string | undefined },
): Pick<Ending, 'error' | 'firstByteMs' | 'userAgent'> {
  return {
    error,
    firstByteMs: headAt === undefined ? undefined : Math.round(headAt - startedAt),
    userAgent: recordedUserAgent(agent),
  };
}

/** The end of the call as its client saw it. */
function endOf({ error, firstByteMs, userAgent }: Ending) {
  const { code = null, message = null, param = null } = error ?? {};
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(code === null ? {} : { code: recordedText(code, LONGEST_NAME) }),
    ...(message === null ? {} : { message: recordedText(message, LONGEST_MESSAGE) }),
    ...(param === null ? {} : { param: recordedText(param, LONGEST_NAME) }),
    ...(userAgent ? { userAgent } : {}),
  };
}

/** The tries, if the rest of the entry does not say it all; what they cost the operator is a part of the call's cost. */
function attemptsOf(
  { attempts = [], status }: Ending,
  bill: Bill | undefined,
): Pick<EntryDraft, 'attempts' | 'cost'> {
  if (attempts.length === 1 && attempts[0]?.status === status) return {};
  const costs = attempts.reduce((sum, { cost = 0 }) => sum + cost, 0);
  return {
    attempts: attempts.map(({ cost: _cost, ...attempt }) => attempt),
    ...(costs > 0 ? { cost: micro((bill?.cost ?? 0) + costs) } : {}),
  };
}

/** The kind of resource that an endpoint creates, by the word in its path: `responses`, `videos`. */
export function resourceKind(endpoint: Endpoint): string {
  return endpoint.path.slice(endpoint.path.lastIndexOf('/') + 1);
}

function resourcesOf({ endpoint, body }: HeldCall, ending: Ending): Pick<EntryDraft, 'job' | 'storedIds'> {
  const { resourceIds, outcome, estimated, usage } = ending;
  const [id] = resourceIds ?? [];
  if (!resourceIds || id === undefined) return {};
  const upstream = targetName(body.model.upstream);
  const kind = resourceKind(endpoint);
  if (endpoint.makesJob) return { job: { upstream, id, kind } };
  // Of an answer that its client left, too, it may know the id.
  const isWhole = outcome === 'complete' || (outcome === 'client_left' && !estimated);
  if (!isWhole) return {};
  // A call that refers to the answer reads the whole conversation; one that refers to a part reads at most the output.
  const tokens: ResourceIds['tokens'] =
    usage && !estimated ? [inputTokens(usage) + outputTokens(usage), usage.output ?? 0] : null;
  return { storedIds: { upstream, kind, ids: journalledIds(resourceIds), tokens } };
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
