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
import { type Catalog, type Model, modelOf, targetName } from '../../domain/catalog.ts';
import { creditsString, type Micro, micro } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Category } from '../../domain/key.ts';
import { holdFor } from '../../domain/price.ts';
import {
  CALLER_CHECKS,
  type Caller,
  type CompiledKey,
  MODEL_CHECKS,
  type Refusal,
} from '../../domain/rules.ts';
import type { Usage } from '../../domain/units.ts';
import { ENDPOINTS, type Endpoint, serves } from '../../gateway/endpoints.ts';
import { longestWait, sentence } from '../../gateway/limits.ts';
import { modelNamed } from '../../gateway/request/call-body.ts';
import { affinityOf, orderOf } from '../../gateway/targets/order.ts';
import type { TargetHealth } from '../../gateway/targets/target-health.ts';
import type { LiveAccount } from '../../ledger/ledger.ts';
import type { ExplanationView } from './explanation-view.ts';

/** A call to run through the checks of specification section 3, with the live state of its key and account. */
export interface ExplainedCall {
  readonly compiled: CompiledKey;
  /** The beginning of the key, which the dashboard shows too. */
  readonly prefix: string;
  readonly caller: Caller;
  readonly catalog: Catalog;
  readonly model: string;
  readonly endpoint: Endpoint | undefined;
  /** Spend of the key in its current period. */
  readonly spent: Micro;
  /** Credits that calls of the key in flight have reserved. */
  readonly ofKey: Reserved;
  /** Limits of calls of key and account, as they stand. */
  readonly limits: LimitStates;
  readonly health: Pick<TargetHealth, 'availability'>;
  /** Balance and overdraft of the account, and the credits that its calls in flight reserve. */
  readonly account: LiveAccount;
}

type Reserved = Pick<LiveAccount, 'held' | 'estimated'>;

interface Verdict {
  readonly check: string;
  readonly refusal: Refusal | undefined;
  /** Detail to show if the check did not fail. */
  readonly fact: string;
  /** True if the check depends on a model that is not known. */
  readonly isOpen?: boolean;
}

/**
 * Runs all checks of specification section 3 in its order, with the functions that real calls go through. Later checks
 * run even after one has failed, so that an owner sees everything that refuses the call at once.
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
    caller: {
      ip: caller.address?.toString() ?? null,
      country: caller.country ?? null,
      origin: caller.origin ?? null,
    },
    targets: targetsOf(model, call.compiled.key.id, call.health),
  };
}

/**
 * Check 9, by the function that finds the model of real calls. The model is returned even if it does not fit the
 * endpoint, so that the later checks can be explained.
 */
function requestVerdict({ catalog, model: slug, endpoint }: ExplainedCall): {
  model: Model | undefined;
  refusal: Refusal | undefined;
} {
  const model = modelOf(catalog, slug);
  const target = endpoint ?? ENDPOINTS.find((candidate) => model !== undefined && serves(candidate, model));
  if (model !== undefined && target === undefined) {
    const message = `No endpoint of this gateway serves the model ${slug}.`;
    return { model, refusal: { code: 'endpoint_mismatch', message } };
  }
  try {
    // Without a model any endpoint will do, because the refusal says that there is no such model.
    modelNamed(slug, catalog, target ?? (ENDPOINTS[0] as Endpoint));
    return { model, refusal: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { model, refusal: error };
  }
}

/** Checks 10 to 12, with the limits of calls between them. */
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
    spendingVerdict(call, hold),
    creditsVerdict(call, hold),
  ];
}

/** The fewest tokens that a call of a text model uses. */
const LEAST_TOKENS = 1;
const LEAST_USAGE: Readonly<Record<Category, Usage>> = {
  text: { input: 1 },
  image: { input: 1, images: 1 },
  tts: { characters: 1 },
  stt: { audioSeconds: 1 },
  video: { videoSeconds: 1 },
};

/** The least that any call of a model holds; `explain`, which has no request, compares it with limit and balance. */
function leastHold(model: Model): Micro {
  const places = model.targets?.map((target) => target.model) ?? [model];
  return micro(Math.max(...places.map(({ price, category }) => holdFor(price, LEAST_USAGE[category]))));
}

/** The targets of a model in the order in which a call of the key, of no conversation, would ask them. */
function targetsOf(
  model: Model | undefined,
  keyId: number,
  health: ExplainedCall['health'],
): ExplanationView['targets'] {
  if (!model) return [];
  const targets = model.targets ?? [{ model, weight: 1, priority: 1 }];
  const order = orderOf(targets, affinityOf({}, {}, keyId), (target) => health.availability(target.model));
  return order.map((target) => ({
    target: targetName(target.model.upstream),
    upstream_model: target.model.upstreamModel,
  }));
}

function spendingVerdict({ compiled, spent, ofKey, account }: ExplainedCall, hold: Micro): Verdict {
  const { spendingLimit: limit, spendingPeriod } = compiled.key;
  if (limit === null) return { check: 'spending_limit', refusal: undefined, fact: 'No limit.' };
  const fact =
    `The ${spendingPeriod} limit is ${creditsString(limit)} credits; ${creditsString(spent)} are spent, ` +
    `${creditsString(ofKey.held)} are held by calls in flight, and this call would hold ${creditsString(hold)} or more.` +
    overdraftFact(account.overdraft, ofKey);
  const fits = covers(micro(limit - spent), account.overdraft, ofKey, hold);
  return {
    check: 'spending_limit',
    refusal: fits ? undefined : { code: 'spending_limit_exceeded', message: fact },
    fact,
  };
}

function creditsVerdict({ account }: ExplainedCall, hold: Micro): Verdict {
  const { balance, held, overdraft } = account;
  const fact =
    `The account has ${creditsString(balance)} credits, of which ${creditsString(held)} are held by calls in ` +
    `flight; this call would hold ${creditsString(hold)} or more.` +
    overdraftFact(overdraft, account);
  const fits = covers(balance, overdraft, account, hold);
  return {
    check: 'credits',
    refusal: fits ? undefined : { code: 'insufficient_credits', message: fact },
    fact,
  };
}

/**
 * The two conditions of specification section 5, "Estimate and overdraft", as lua/admit.lua checks them. The estimate of the
 * least call is its hold.
 */
function covers(credits: Micro, overdraft: Micro, { held, estimated }: Reserved, hold: Micro): boolean {
  return credits - estimated >= hold && held + hold - credits <= overdraft;
}

function overdraftFact(overdraft: Micro, { estimated }: Reserved): string {
  if (overdraft === 0) return '';
  return (
    ` Calls in flight are likely to cost ${creditsString(estimated)}, and holds may go beyond this by the ` +
    `account's overdraft of ${creditsString(overdraft)}.`
  );
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

/** The check of one limit of calls, of the key and of its account. */
interface LimitVerdict {
  readonly check: LimitName;
  readonly refusal: Refusal | undefined;
  /** State of each limit at this moment. */
  readonly fact: string;
}

const UNITS: Readonly<Record<LimitName, string>> = {
  max_parallel_requests: 'calls in flight',
  rpm_limit: 'requests a minute',
  tpm_limit: 'tokens a minute',
};

/** The checks of limits of calls (specification section 11) for one more call of `tokens`, in the order in which they count. */
function limitVerdicts({ limits: states, endpoint }: ExplainedCall, tokens: number): LimitVerdict[] {
  const full = fullLimits(states, tokens).filter(
    ({ name }) => !endpoint?.isCounting || name === 'max_parallel_requests',
  );
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
  const [limit, left] = leftOf(name, state) ?? [];
  if (limit === undefined) return [];
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
