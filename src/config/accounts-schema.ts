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
  return optional(limit, null, `${description}; null: no limit`);
}

/** The section `accounts`: bounds of accounts, and what new ones begin with. */
export const accountsSection = section({
  maxKeys: optional(
    number(1, 100_000),
    10_000,
    'Most keys of one account, including inactive ones; keys are never removed',
  ),
  maxKeyBytes: optional(
    number(1_000, 1_000_000_000),
    33_554_432,
    'Most bytes of the settings of all keys of one account, as JSON in UTF-8; Redis holds them all',
  ),
  overdraft: optional(
    credits,
    micro(0),
    'Overdraft of new accounts, in credits; existing accounts keep their overdraft and limits',
  ),
  rpmLimit: callLimit('Calls of all keys of a new account that may begin in a minute'),
  tpmLimit: callLimit('Tokens of all keys of a new account in a minute'),
  maxParallelRequests: callLimit('Calls of all keys of a new account in flight'),
});
