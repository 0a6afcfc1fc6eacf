import { orNull, timeOrNull, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

/** What an account's people and keys may have to do something about, worst first. */
export const ACCOUNT_KINDS = [
  'out_of_credits',
  'limit_reached',
  'calls_refused',
  'low_balance',
  'webhook_failed',
  'key_expires',
] as const;
export type AccountKind = (typeof ACCOUNT_KINDS)[number];

/** What an operator may have to do something about, worst first. */
export const OPERATOR_KINDS = [
  'redis_not_durable',
  'journal_waiting',
  'credential_refused',
  'provider_failing',
  'account_out_of_credits',
  'account_runs_dry',
  'alerts_failing',
  'unknown_members',
] as const;
export type OperatorKind = (typeof OPERATOR_KINDS)[number];

/** Most items of an answer. */
export const MOST_ITEMS = 20;

const SUBJECTS = ['key', 'member', 'account', 'upstream', 'webhook', 'gateway'] as const;

function listOf<Kind extends string>(kinds: readonly Kind[], title: string, description: string) {
  const item = Type.Object(
    {
      kind: words(kinds, description),
      since: timeOrNull('When it began, as far as the records tell; null: unknown.'),
      count: orNull(
        Type.Integer({ minimum: 0 }),
        'Number of calls, deliveries or the like; null: nothing to count.',
      ),
      subject: Type.Object(
        {
          type: words(
            SUBJECTS,
            'What it is about. A webhook has the id of its key, a member that of the person.',
          ),
          id: orNull(
            Type.Union([Type.Integer(), Type.String()]),
            'Its id; the name in the configuration for an upstream; null: the gateway.',
          ),
          name: Type.String({
            description: 'Its name, address, or the name of the credential of an upstream.',
          }),
        },
        { title: 'AttentionSubject' },
      ),
      code: orNull(
        Type.String(),
        'Error code of the last refusal, or reason of the failed delivery; null: none.',
      ),
      until: timeOrNull('When a limit resets, a key expires, or a balance runs out; null: unknown or never.'),
      more: Type.Integer({
        minimum: 0,
        description:
          'On the last item of a kind: how many more of the kind there are, which the list leaves out.',
      }),
      message: Type.String({ description: 'The same in sentences, for people.' }),
    },
    { title },
  );
  return Type.Object(
    {
      items: Type.Array(item, { maxItems: MOST_ITEMS }),
      total: Type.Integer({ minimum: 0, description: 'Number of all items, with those left out.' }),
    },
    { title: `${title}List`, description: 'What needs attention, worst first. Empty: nothing.' },
  );
}

export const AccountAttention = listOf(
  ACCOUNT_KINDS,
  'AccountAttention',
  '`out_of_credits`: calls were refused for want of credits in the last 24 hours, since the last top-up: a top-up removes it. ' +
    "`limit_reached`: a spending limit is spent; the account's first, then those that reset last. `calls_refused`: the last 5 " +
    'or more calls of a key in 24 hours were all refused, unless its end, a spent limit or want of credits explains it. ' +
    '`low_balance`: the balance lasts less than 3 days. `webhook_failed`: the last alert to a receiver failed. `key_expires`: ' +
    'within 7 days, the next first.',
);
export const OperatorAttention = listOf(
  OPERATOR_KINDS,
  'OperatorAttention',
  '`redis_not_durable`: a restart of Redis could lose charges. `journal_waiting`: the book lacks entries for more than a ' +
    'minute, or refuses some. `credential_refused`: a provider refuses a credential. `provider_failing`: a fifth or more of ' +
    'at least 5 attempts of the last hour failed. `account_out_of_credits` and `account_runs_dry`: as `out_of_credits` and ' +
    '`low_balance` of an account. `alerts_failing`: alerts to some receivers failed in the last 24 hours. `unknown_members`: ' +
    'requests have fields that the price tables lack.',
);

/** The answer of `GET /api/account/attention/`. */
export type AccountAttentionView = Static<typeof AccountAttention>;
/** The answer of `GET /api/admin/attention/`. */
export type OperatorAttentionView = Static<typeof OperatorAttention>;
export type AttentionItemView = (AccountAttentionView | OperatorAttentionView)['items'][number];

export const ACCOUNT_ATTENTION_EXAMPLE: AccountAttentionView = {
  items: [
    {
      kind: 'limit_reached',
      since: null,
      count: null,
      subject: { type: 'key', id: 3, name: 'Dana' },
      code: null,
      until: '2026-11-30T00:00:00.000Z',
      more: 0,
      message: 'The weekly spending limit of key “Dana” (5 credits) is spent until 2026-11-30T00:00:00.000Z.',
    },
  ],
  total: 1,
};

export const OPERATOR_ATTENTION_EXAMPLE: OperatorAttentionView = {
  items: [
    {
      kind: 'provider_failing',
      since: '2026-11-21T07:41:00.000Z',
      count: 24,
      subject: { type: 'upstream', id: 'openai', name: 'openai' },
      code: null,
      until: null,
      more: 0,
      message: '24 of 31 attempts at openai failed in the last hour.',
    },
  ],
  total: 1,
};
