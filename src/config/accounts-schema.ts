import { MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import { MAX_CREDITS, type Micro, micro, microFromCredits } from '../domain/credits.ts';
import { type Field, type JsonSchema, number, optional, type Reader, reader, section } from './reader.ts';

/** Credits, 0 or more. */
const credits: Reader<Micro> = reader(
  { type: 'number', minimum: 0, maximum: MAX_CREDITS },
  (value, path, faults) => {
    const amount = typeof value === 'number' ? microFromCredits(value) : undefined;
    if (amount !== undefined && amount >= 0) return amount;
    return faults.add(
      path,
      `must be a number of credits from 0 to ${MAX_CREDITS}, with at most six decimals`,
    );
  },
);

/** A limit of calls of new accounts, or null for none. */
function callLimit(description: string): Field<number | null> {
  const whole = number(1, MAX_CALL_LIMIT);
  const { anyOf } = whole.schema as { anyOf: readonly JsonSchema[] };
  const limit = reader({ anyOf: [...anyOf, { type: 'null' }] }, whole);
  return optional(limit, null, `${description}; null: no limit. Accounts that are there keep theirs`);
}

/** The section `accounts`: bounds of accounts, and what new ones begin with. */
export const accountsSection = section({
  maxKeys: optional(
    number(1, 100_000),
    10_000,
    'Most keys of one account, including inactive ones, because none is ever removed; one more gets 409 too_many_keys',
  ),
  maxKeyBytes: optional(
    number(1_000, 1_000_000_000),
    33_554_432,
    'Most bytes that the settings of all keys of one account take, as JSON; more gets 409 too_many_keys. Redis holds them all',
  ),
  overdraft: optional(
    credits,
    micro(0),
    'Credits by which calls in flight may together take the balance of a new account below 0, and the spend of its keys above their limits. 0: never. Accounts that are there keep theirs',
  ),
  rpmLimit: callLimit("Most calls of all of a new account's keys that may begin in a minute"),
  tpmLimit: callLimit("Most tokens in a minute, of all of a new account's keys"),
  maxParallelRequests: callLimit("Most calls in flight at once, of all of a new account's keys"),
});
