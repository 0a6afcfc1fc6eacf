import { maybe, number, oneOf, optional, section } from '../../domain/shape.ts';
import { SPENDING_OWNERS } from '../../domain/spending-limits.ts';
import { LIMIT_FIELDS } from '../keys/limit-view.ts';
import { exactCredits, orNull, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const ofReader = 'Null for a reader who may not see it.';
const { credits, period, spent, held, resets_at } = LIMIT_FIELDS;

/** A spending limit in the list of an account. */
export const AccountLimit = Type.Object(
  {
    of: Type.Object(
      {
        type: words(SPENDING_OWNERS, 'Whose spending the limit bounds.'),
        id: Type.Integer({ minimum: 1, description: 'Id of the account, the person or the key.' }),
        name: Type.String({ description: 'Its name.' }),
        person_id: orNull(Type.Integer({ minimum: 1 }), 'The person of a member or a key; null: none.'),
      },
      { description: 'Owner of the limit.' },
    ),
    period,
    credits,
    spent,
    held,
    left: orNull(exactCredits('The limit minus the spend, at least 0. Holds do not count.'), ofReader),
    resets_at,
  },
  { title: 'AccountLimit', description: 'A spending limit, its owner, and what is left.' },
);
export type AccountLimitView = Static<typeof AccountLimit>;

export const AccountLimits = Type.Object(
  {
    limits: Type.Array(AccountLimit),
    total: Type.Integer({ minimum: 0, description: 'Number of limits that match `of` and `min_share`.' }),
  },
  {
    title: 'AccountLimits',
    description:
      'Spending limits of an account, its active members and its active keys; the largest used share first.',
  },
);
export type AccountLimitsView = Static<typeof AccountLimits>;

export const LimitsQuery = section({
  limit: optional(number(1, 200), 50, 'Maximum number of limits.'),
  of: maybe(oneOf(...SPENDING_OWNERS), 'Only limits of the account, of members, or of keys.'),
  min_share: optional(
    number(0, 1, 'decimal'),
    0,
    'Only limits of which this share is spent, from 0 to 1. The share of a limit of 0 credits is 1; that of one whose ' +
      'spend you may not see counts as 0.',
  ),
});

export const ACCOUNT_LIMITS_EXAMPLE: AccountLimitsView = {
  limits: [
    {
      of: { type: 'key', id: 2, name: 'web app', person_id: null },
      period: 'monthly',
      credits: 10,
      spent: '9.020084',
      held: '0.500000',
      left: '0.979916',
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  ],
  total: 1,
};
