import {
  type FullLimit,
  fullLimits,
  LIMIT_NAMES,
  type LimitName,
  type LimitOwner,
  type LimitState,
  type LimitStates,
  remaining,
} from '../../domain/call-limits.ts';
import { type Caller, textOf } from '../../domain/caller.ts';
import { eachFact } from '../../domain/caller-facts.ts';
import { type Catalog, type Model, modelIn, modelOf, targetName } from '../../domain/catalog.ts';
import { creditsString, type Micro, micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Category } from '../../domain/key.ts';
import { PERIOD_WORDS } from '../../domain/limit-periods.ts';
import { holdFor } from '../../domain/price.ts';
import { CALLER_CHECKS, type CompiledKey, MODEL_CHECKS, type Refusal } from '../../domain/rules.ts';
import type { SpendingOwner } from '../../domain/spending-limits.ts';
import type { Usage } from '../../domain/units.ts';
import { ENDPOINTS, type Endpoint, serves } from '../../gateway/endpoints.ts';
import { longestWait, sentence } from '../../gateway/limits.ts';
import { modelNamed } from '../../gateway/request/call-body.ts';
import { affinityOf, orderOf } from '../../gateway/targets/order.ts';
import type { TargetHealth } from '../../gateway/targets/target-health.ts';
import type { LiveAccount, SpendingState } from '../../ledger/ledger.ts';
import type { ExplanationView } from './explanation-view.ts';

/** A call to run through the checks of specification section 3, with the live state of its key and account. */
export interface ExplainedCall {
  readonly compiled: CompiledKey;
  /** Start of the key's value, as on the dashboard. */
  readonly prefix: string;
  readonly caller: Caller;
  readonly catalog: Catalog;
  readonly model: string;
  readonly endpoint: Endpoint | undefined;
  /** State of each spending limit of the key, its member and its account. */
  readonly spending: readonly SpendingState[];
  /** Current state of the key's and the account's call limits. */
  readonly limits: LimitStates;
  readonly health: Pick<TargetHealth, 'availability'>;
  /** Secret of the order of targets (`Book.secret`). */
  readonly secret: string;
  /** Balance and overdraft of the account, and the credits reserved by its calls in flight. */
  readonly account: LiveAccount;
  /** True if the reader may not see the sums of the account. */
  readonly isAccountHidden: boolean;
}

type Reserved = Pick<LiveAccount, 'held' | 'estimated'>;

interface Verdict {
  readonly check: string;
  readonly refusal: Refusal | undefined;
  /** Detail to show unless the check fails. */
  readonly fact: string;
  /** True if the check depends on an unknown model. */
  readonly isOpen?: boolean;
}

/**
 * Runs all checks of specification section 3 in order, with the functions that real calls use. Continues after a
 * failure, so that an owner sees every reason for a refusal at once.
 */
export function explain(call: ExplainedCall): ExplanationView {
  const { caller } = call;
  const { model, refusal } = requestVerdict(call);
  const verdicts: Verdict[] = [
    { check: 'authorization', refusal: undefined, fact: 'Checked as if the key were sent.' },
    { check: 'known_key', refusal: undefined, fact: `The key is ${call.prefix}….` },
    ...CALLER_CHECKS.map(({ name, check, fact }) => ({
      check: name,
      refusal: check(call.compiled, call.caller),
      fact: fact(call.caller),
    })),
    { check: 'request', refusal, fact: 'The model is in the catalog and fits the endpoint.' },
    ...(model === undefined ? UNCHECKED : modelVerdicts(call, model)),
  ];
  const failed = verdicts.find((verdict) => verdict.refusal !== undefined);
  return {
    allowed: failed === undefined,
    code: failed?.refusal?.code ?? null,
    checks: verdicts.map(({ check, refusal, fact, isOpen }) => ({
      check,
      state: refusal ? 'failed' : isOpen ? 'not_checked' : 'passed',
      passed: refusal === undefined,
      detail: refusal?.message ?? fact,
    })),
    caller: eachFact((fact) => textOf(caller, fact)),
    targets: targetsOf(model, call),
  };
}

/**
 * Check 9, with the function that finds the model of real calls, with its targets in the format of the endpoint. Returns
 * a model even if it doesn't fit the endpoint, so that later checks can be explained.
 */
function requestVerdict({ catalog, model: slug, endpoint: asked, compiled }: ExplainedCall): {
  model: Model | undefined;
  refusal: Refusal | undefined;
} {
  const known = modelOf(catalog, slug);
  const model = known && modelIn(known, known.upstream.format);
  const endpoint = asked ?? ENDPOINTS.find((candidate) => model !== undefined && serves(candidate, model));
  if (model !== undefined && endpoint === undefined) {
    const message = `No endpoint of this gateway serves the model ${slug}.`;
    return { model, refusal: { code: 'endpoint_mismatch', message } };
  }
  try {
    // Without a model, any endpoint works: the refusal says that the model doesn't exist.
    const fit = modelNamed(slug, catalog, { endpoint: endpoint ?? (ENDPOINTS[0] as Endpoint), compiled });
    return { model: fit, refusal: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { model, refusal: error };
  }
}

/** Checks 10 to 12, and the call limits between them. */
function modelVerdicts(call: ExplainedCall, model: Model): Verdict[] {
  const { compiled } = call;
  const hold = leastHold(model);
  return [
    ...MODEL_CHECKS.map(({ name, check, fact }) => ({
      check: name,
      refusal: check(compiled, model),
      fact: fact(model),
    })),
    ...limitVerdicts(call, model.category === 'text' ? LEAST_TOKENS : 0),
    ...SPENDING_CHECKS.flatMap(([owner, check]) => spendingVerdict(call, hold, owner, check)),
    creditsVerdict(call, hold),
  ];
}

/** Fewest tokens that a call to a text model uses. */
const LEAST_TOKENS = 1;
const LEAST_USAGE: Readonly<Record<Category, Usage>> = {
  text: { input: 1 },
  image: { input: 1, images: 1 },
  tts: { characters: 1 },
  stt: { audioSeconds: 1 },
  video: { videoSeconds: 1 },
};

/** Smallest hold of any call to a model. Without a request, `explain` compares it with limit and balance. */
function leastHold(model: Model): Micro {
  const places = model.targets?.map((target) => target.model) ?? [model];
  return micro(Math.max(...places.map(({ price, category }) => holdFor(price, LEAST_USAGE[category]))));
}

/** Targets of a model in the order that a call of the key would try them outside a conversation. */
function targetsOf(
  model: Model | undefined,
  { compiled, health, secret }: ExplainedCall,
): ExplanationView['targets'] {
  if (!model) return [];
  const targets = model.targets ?? [{ model, weight: 1, priority: 1 }];
  const order = orderOf(targets, affinityOf({}, {}, compiled.key.id, secret), (target) =>
    health.availability(target.model),
  );
  return order.map((target) => ({
    target: targetName(target.model.upstream),
    upstream_model: target.model.upstreamModel,
  }));
}

const SPENDING_CHECKS = [
  ['key', 'spending_limit'],
  ['member', 'member_spending_limits'],
  ['account', 'account_spending_limits'],
] as const;

/** One check for each owner that has limits, and for the key. */
function spendingVerdict(
  { spending, account, isAccountHidden }: ExplainedCall,
  hold: Micro,
  owner: SpendingOwner,
  check: string,
): Verdict[] {
  const own = spending.filter(({ of }) => of === owner);
  const [first] = own;
  if (!first) return owner === 'key' ? [{ check, refusal: undefined, fact: 'No limit.' }] : [];
  const isHidden = isAccountHidden && owner === 'account';
  const facts = own.map(({ period, credits, spent, held }) => {
    const limit = `The ${PERIOD_WORDS[period]} limit is ${amount(credits)} credits`;
    if (isHidden) return `${limit}. This call would hold at least ${amount(hold)}.`;
    return (
      `${limit}, of which ${amount(spent)} are spent. Calls in ` +
      `flight hold ${amount(held)}, and this call would hold at least ${amount(hold)}.`
    );
  });
  const fits = own.every((limit) =>
    covers(micro(limit.credits - limit.spent), account.overdraft, limit, hold),
  );
  const fact = facts.join(' ') + (isAccountHidden ? '' : overdraftFact(account.overdraft, first));
  const refusal = fits ? undefined : ({ code: 'spending_limit_exceeded', message: fact } as const);
  return [{ check, refusal, fact }];
}

function creditsVerdict({ account, isAccountHidden }: ExplainedCall, hold: Micro): Verdict {
  const { balance, held, overdraft } = account;
  const fits = covers(balance, overdraft, account, hold);
  const fact = isAccountHidden
    ? `The account has ${fits ? 'enough' : 'too few'} credits for this call, which would hold at least ${amount(hold)}.`
    : `The account has ${amount(balance)} credits. Calls in flight hold ${amount(held)}, and this call would hold at least ` +
      `${amount(hold)}.` +
      overdraftFact(overdraft, account);
  return {
    check: 'credits',
    refusal: fits ? undefined : { code: 'insufficient_credits', message: fact },
    fact,
  };
}

/**
 * Checks the two conditions of specification section 5, "Estimate and overdraft", like lua/admit.lua. The estimate of
 * the smallest call is its hold.
 */
function covers(credits: Micro, overdraft: Micro, { held, estimated }: Reserved, hold: Micro): boolean {
  return credits - estimated >= hold && held + hold - credits <= overdraft;
}

function overdraftFact(overdraft: Micro, { estimated }: Reserved): string {
  if (overdraft === 0) return '';
  return (
    ` Calls in flight are likely to cost ${amount(estimated)}, and holds may exceed this by the account's overdraft of ` +
    `${amount(overdraft)}.`
  );
}

const COUNT = new Intl.NumberFormat('en');
const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

/** Exact amount for people: "1,231.50", "0.000001". */
function amount(value: Micro): string {
  return AMOUNT.format(creditsString(value) as Intl.StringNumericLiteral);
}

/** The checks that depend on the model. */
const UNCHECKED: readonly Verdict[] = [
  ...MODEL_CHECKS.map(({ name }) => name),
  ...LIMIT_NAMES,
  'spending_limit',
  'credits',
].map((check) => ({
  check,
  refusal: undefined,
  fact: 'Not checked: it depends on the model.',
  isOpen: true,
}));

/** Check of one call limit, for the key and its account. */
interface LimitVerdict {
  readonly check: LimitName;
  readonly refusal: Refusal | undefined;
  /** Current state of each limit. */
  readonly fact: string;
}

const UNITS: Readonly<Record<LimitName, string>> = {
  max_parallel_requests: 'calls in flight',
  rpm_limit: 'requests a minute',
  tpm_limit: 'tokens a minute',
};

/** Checks the call limits (specification section 11), in order, for one more call of `tokens`. */
function limitVerdicts({ limits: states, endpoint }: ExplainedCall, tokens: number): LimitVerdict[] {
  const full = fullLimits(states, endpoint?.isCounting ? undefined : tokens);
  return LIMIT_NAMES.map((check) => {
    const facts = (['key', 'account'] as const).flatMap((owner) => factOf(check, owner, states[owner]));
    const fact = facts.length === 0 ? 'No limit.' : facts.join(' ');
    const refusing = longestWait(full.filter(({ name }) => name === check));
    return { check, refusal: refusing && refusalOf(refusing, fact), fact };
  });
}

function refusalOf(limit: FullLimit, fact: string): Refusal {
  return { code: 'rate_limit_exceeded', message: `${sentence(limit)}. ${fact}` };
}

function factOf(name: LimitName, owner: LimitOwner, state: LimitState): string[] {
  const counts = leftOf(name, state);
  if (!counts) return [];
  const [limit, left] = counts.map(COUNT.format);
  return [`The ${owner}'s limit is ${limit} ${UNITS[name]}, of which ${left} are left.`];
}

function leftOf(name: LimitName, state: LimitState): [limit: number, left: number] | undefined {
  const { parallel, requests, tokens } = state;
  if (name === 'max_parallel_requests') {
    return parallel && [parallel.limit, Math.max(0, parallel.limit - parallel.open)];
  }
  const bucket = name === 'rpm_limit' ? requests : tokens;
  return bucket && [bucket.limit, remaining(bucket)];
}
