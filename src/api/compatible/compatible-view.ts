import { creditsNumber, type Micro, micro } from '../../domain/credits.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { periodStarts, SPENDING_PERIODS, type SpendingPeriod, timestamp } from '../../domain/period.ts';
import { limitsOfKey, type SpendingLimit, spentIn, type Windows } from '../../domain/spending-limits.ts';
import { balance, credits, orNull, timeOrNull } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

// A key in the forms of other services, for tools that know only those. Their other members are constant.

/** `hard_limit_usd` of a key without a limit: that of one-api. */
const UNLIMITED = 100_000_000;
const MICRO_PER_CENT = 10_000;

const FOR_TOOLS = { description: 'For clients that require it.' };
const ZERO = Type.Integer({ const: 0, ...FOR_TOOLS });
const limit = orNull(
  credits('The limit of the key with the least left.'),
  'The limit of the key with the least left, in credits; null: it has none.',
);

/** A key as OpenRouter describes one (its API reference, "Get current API key"). */
export const OpenRouterKey = Type.Object(
  {
    data: Type.Object({
      label: Type.String({ description: 'Start of the value of the key.' }),
      limit,
      limit_remaining: orNull(
        credits('What is left of it.'),
        'What is left of it, at least 0; null: no limit.',
      ),
      limit_reset: orNull(
        Type.Enum(SPENDING_PERIODS),
        'Period after which it begins again; null: it has another period, or there is no limit.',
      ),
      usage: credits('Spent by the key, ever.'),
      usage_daily: credits('Spent in the current UTC day.'),
      usage_weekly: credits('Spent in the current week, from Monday.'),
      usage_monthly: credits('Spent in the current month.'),
      is_free_tier: Type.Literal(false, FOR_TOOLS),
      is_management_key: Type.Boolean({ description: 'Whether the key can manage.' }),
      is_provisioning_key: Type.Boolean({ description: 'The same.' }),
      expires_at: timeOrNull('When the key expires; null: never.'),
      include_byok_in_limit: Type.Literal(false, FOR_TOOLS),
      byok_usage: ZERO,
      byok_usage_daily: ZERO,
      byok_usage_weekly: ZERO,
      byok_usage_monthly: ZERO,
      creator_user_id: { ...Type.Null(), ...FOR_TOOLS },
      rate_limit: Type.Object(
        {
          requests: Type.Integer({ description: 'Requests a minute; -1: no limit.' }),
          interval: Type.Literal('1m', FOR_TOOLS),
          note: Type.String(FOR_TOOLS),
        },
        { description: '`rpm_limit` of the key.' },
      ),
    }),
  },
  { title: 'OpenRouterKey', description: "The calling key in OpenRouter's form." },
);

/** Credits as OpenRouter describes them (its API reference, "Get remaining credits"). */
export const OpenRouterCredits = Type.Object(
  {
    data: Type.Object({
      total_credits: balance('The balance and `total_usage` together.'),
      total_usage: credits('Spent by the account, ever.'),
    }),
  },
  { title: 'OpenRouterCredits', description: "The balance of the account in OpenRouter's form." },
);

/** A subscription as OpenAI had it until 2023, and as one-api has it. */
export const BillingSubscription = Type.Object(
  {
    object: Type.Literal('billing_subscription', FOR_TOOLS),
    has_payment_method: Type.Literal(true, FOR_TOOLS),
    soft_limit_usd: balance('The same as `hard_limit_usd`.'),
    hard_limit_usd: balance(
      'The limit of the key with the least left. Without one: the balance for a key that can manage, else 100000000.',
    ),
    system_hard_limit_usd: balance('The same as `hard_limit_usd`.'),
    access_until: Type.Integer({
      minimum: 0,
      description: 'When the key expires, in seconds since 1970; 0: never.',
    }),
  },
  { title: 'BillingSubscription', description: 'The limit of the calling key, credits as dollars.' },
);

/** Usage in the same form. */
export const BillingUsage = Type.Object(
  {
    object: Type.Literal('list', FOR_TOOLS),
    total_usage: Type.Number({
      minimum: 0,
      description:
        'Hundredths of a credit that the key spent in the current period of the limit with the least left; without a limit, ever.',
    }),
  },
  { title: 'BillingUsage', description: 'The spend of the calling key, credits as dollars.' },
);

/** A key, what it has spent, and the time by Redis' clock. */
export interface SpentKey {
  readonly key: KeyRecord;
  readonly windows: Windows;
  readonly now: number;
}

interface LimitState extends SpendingLimit {
  readonly spent: Micro;
  readonly left: Micro;
}

/** The key's own limit with the least left; the first of equal ones. */
function tightest({ key, windows, now }: SpentKey): LimitState | undefined {
  const starts = periodStarts(now);
  const states = limitsOfKey(key).map((one): LimitState => {
    const spent = spentIn(windows, one.period, starts, now);
    return { ...one, spent, left: micro(Math.max(0, one.credits - spent)) };
  });
  return states.reduce<LimitState | undefined>((a, b) => (a && a.left <= b.left ? a : b), undefined);
}

export function openRouterKey(spent: SpentKey): Static<typeof OpenRouterKey> {
  const { key, windows, now } = spent;
  const least = tightest(spent);
  const starts = periodStarts(now);
  const usedIn = (period: SpendingPeriod) => creditsNumber(spentIn(windows, period, starts, now));
  return {
    data: {
      label: `${key.prefix}…`,
      limit: least ? creditsNumber(least.credits) : null,
      limit_remaining: least ? creditsNumber(least.left) : null,
      limit_reset: SPENDING_PERIODS.find((period) => period === least?.period) ?? null,
      usage: creditsNumber(windows.totalSpent),
      usage_daily: usedIn('daily'),
      usage_weekly: usedIn('weekly'),
      usage_monthly: usedIn('monthly'),
      is_free_tier: false,
      is_management_key: key.canManage,
      is_provisioning_key: key.canManage,
      expires_at: key.expiresAt === null ? null : timestamp(key.expiresAt),
      include_byok_in_limit: false,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      creator_user_id: null,
      rate_limit: { requests: key.rpmLimit ?? -1, interval: '1m', note: 'rpm_limit of the key.' },
    },
  };
}

/** `spent` by the account, ever. */
export function openRouterCredits(left: Micro, spent: Micro): Static<typeof OpenRouterCredits> {
  return {
    data: { total_credits: creditsNumber(micro(left + spent)), total_usage: creditsNumber(spent) },
  };
}

/** `left`: the balance of the account, for a key that can manage. */
export function billingSubscription(
  spent: SpentKey,
  left: Micro | undefined,
): Static<typeof BillingSubscription> {
  const limited = tightest(spent)?.credits ?? left;
  const usd = limited === undefined ? UNLIMITED : creditsNumber(limited);
  const { expiresAt } = spent.key;
  return {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: usd,
    hard_limit_usd: usd,
    system_hard_limit_usd: usd,
    access_until: expiresAt === null ? 0 : Math.floor(expiresAt / 1_000),
  };
}

export function billingUsage(spent: SpentKey): Static<typeof BillingUsage> {
  const used = tightest(spent)?.spent ?? spent.windows.totalSpent;
  return { object: 'list', total_usage: used / MICRO_PER_CENT };
}

export const OPENROUTER_KEY_EXAMPLE: Static<typeof OpenRouterKey> = {
  data: {
    label: 'sk-tg-AbCd…',
    limit: 10,
    limit_remaining: 9.979916,
    limit_reset: 'monthly',
    usage: 0.020084,
    usage_daily: 0.020084,
    usage_weekly: 0.020084,
    usage_monthly: 0.020084,
    is_free_tier: false,
    is_management_key: false,
    is_provisioning_key: false,
    expires_at: null,
    include_byok_in_limit: false,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    creator_user_id: null,
    rate_limit: { requests: 600, interval: '1m', note: 'rpm_limit of the key.' },
  },
};

export const OPENROUTER_CREDITS_EXAMPLE: Static<typeof OpenRouterCredits> = {
  data: { total_credits: 1_000, total_usage: 0.010042 },
};

export const SUBSCRIPTION_EXAMPLE: Static<typeof BillingSubscription> = {
  object: 'billing_subscription',
  has_payment_method: true,
  soft_limit_usd: 10,
  hard_limit_usd: 10,
  system_hard_limit_usd: 10,
  access_until: 0,
};

export const BILLING_USAGE_EXAMPLE: Static<typeof BillingUsage> = { object: 'list', total_usage: 2.0084 };
