import { parseAddress } from './addresses.ts';
import {
  CALLER_FACT_NAMES,
  CALLER_FACTS,
  type CallerFact,
  type CallerHeaders,
  eachFact,
} from './caller-facts.ts';
import { normalizeCountry } from './countries.ts';
import { TEXT_PATTERNS } from './json-patterns.ts';
import { shortText, storable } from './key-readers.ts';
import { type Camel, camel, type MaybeField, maybe, type Parsed } from './shape.ts';

/** Readers of the values that explained calls are asked about. */
const READERS = {
  address: shortText('must be an IPv4 or IPv6 address', parseAddress),
  country: shortText('must be an ISO 3166-1 alpha-2 country code', normalizeCountry, {
    pattern: TEXT_PATTERNS.country,
  }),
  text: storable(1_000),
};

type ValueOf<F extends CallerFact> = Parsed<(typeof READERS)[(typeof CALLER_FACTS)[F]['kind']]>;

type Facts = { readonly [F in CallerFact as Camel<F>]?: ValueOf<F> | undefined };

/** The caller of a request: who calls, from where, and when. Absent facts are unknown. */
export interface Caller extends Facts {
  readonly nowMs: number;
  /** Config `origins.allowMissing`. */
  readonly allowMissingOrigin: boolean;
}

const OF_HEADERS = CALLER_FACT_NAMES.flatMap((fact) => {
  const row = CALLER_FACTS[fact];
  return row.kind === 'text' ? [{ name: camel(fact), from: row.from }] : [];
});

/** The facts that the headers of a request give. */
export function headerFacts(headers: CallerHeaders): Omit<Facts, 'ip' | 'country'> {
  const facts: Record<string, string | undefined> = {};
  for (const { name, from } of OF_HEADERS) facts[name] = from(headers);
  return facts;
}

/** A fact as text; null: unknown, or none. */
export function textOf(caller: Caller, fact: CallerFact): string | null {
  return caller[camel(fact)]?.toString() || null;
}

/** Fields that ask about a caller. */
export const ASKED_FACTS = eachFact((fact): MaybeField<unknown> => {
  const { kind, ask } = CALLER_FACTS[fact];
  return maybe<unknown, string>(READERS[kind], ask);
}) as { readonly [F in CallerFact]: MaybeField<ValueOf<F>, string> };
