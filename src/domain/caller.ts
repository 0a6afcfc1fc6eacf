import { type ParsedAddress, parseAddress } from './addresses.ts';
import { normalizeCountry } from './countries.ts';
import type { CallerFact } from './errors.ts';
import { TEXT_PATTERNS } from './json-patterns.ts';
import { shortText, storable } from './key-readers.ts';
import { requestOrigin } from './origins.ts';
import { type Camel, camel, type MaybeField, maybe, type Parsed, type Reader } from './shape.ts';

interface Row {
  /** Reader of the value that an explained call is asked about. */
  readonly read: Reader<string | ParsedAddress, string>;
  /** Description of the question. */
  readonly ask: string;
  /** Description in answers. */
  readonly help: string;
  /** Label on the dashboard, and the word there for a question without it. */
  readonly label: string;
  readonly unasked: string;
  /** Sentence about a check of the value, as the API or the dashboard shows it; null: unknown, or none. */
  readonly checked: (shown: string | null) => string;
}

/**
 * What is known of a caller and checked, a row each: `explain` asks for it and answers it, the record of a refused call
 * has it, and the dashboard shows both. A restriction names the facts that it reads (`reads` in key-fields.ts). A new
 * one is a name in errors.ts, a row here, and its header in `headerFacts`.
 */
export const CALLER_FACTS = {
  ip: {
    read: shortText('must be an IPv4 or IPv6 address', parseAddress),
    ask: 'Address of the caller. Default: yours.',
    help: 'Address of the caller; null: unknown.',
    label: 'Caller IP address',
    unasked: 'Yours',
    checked: (ip) => `Checked from ${ip ?? 'an unknown address'}.`,
  },
  country: {
    read: shortText('must be an ISO 3166-1 alpha-2 country code', normalizeCountry, {
      pattern: TEXT_PATTERNS.country,
    }),
    ask: 'ISO 3166-1 alpha-2 code. Default: the country of the address.',
    help: 'Country of the address, ISO 3166-1 alpha-2; null: unknown.',
    label: 'Country',
    unasked: 'Country of the IP address',
    checked: (country) => (country === null ? 'Checked with no country.' : `Checked from ${country}.`),
  },
  origin: {
    read: storable(1_000),
    ask: 'The header `Origin`. Default: none.',
    help: 'Origin of the request; null: none.',
    label: 'Origin',
    unasked: 'None is sent',
    checked: (origin) => (origin === null ? 'Checked with no origin.' : `Checked with the origin ${origin}.`),
  },
} as const satisfies Readonly<Record<CallerFact, Row>>;

export const CALLER_FACT_NAMES = Object.keys(CALLER_FACTS) as readonly CallerFact[];

type Facts = {
  readonly [F in CallerFact as Camel<F>]?: Parsed<(typeof CALLER_FACTS)[F]['read']> | undefined;
};

/** The caller of a request: who calls, from where, and when. Absent facts are unknown. */
export interface Caller extends Facts {
  readonly nowMs: number;
  /** Config `origins.allowMissing`. */
  readonly allowMissingOrigin: boolean;
}

/** The facts that the headers of a request give. */
export function headerFacts(headers: {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
}): Required<Omit<Facts, 'ip' | 'country'>> {
  return { origin: requestOrigin(headers.origin, headers.referer) };
}

/** One value for each fact. */
export function eachFact<T>(of: (fact: CallerFact) => T): { readonly [F in CallerFact]: T } {
  return Object.fromEntries(CALLER_FACT_NAMES.map((fact) => [fact, of(fact)])) as {
    readonly [F in CallerFact]: T;
  };
}

/** A fact as text; null: unknown, or none. */
export function textOf(caller: Caller, fact: CallerFact): string | null {
  return caller[camel(fact)]?.toString() || null;
}

/** Fields that ask about a caller. */
export const ASKED_FACTS = eachFact((fact): MaybeField<unknown> => {
  const { read, ask }: Row = CALLER_FACTS[fact];
  return maybe(read, ask);
}) as {
  readonly [F in CallerFact]: MaybeField<Parsed<(typeof CALLER_FACTS)[F]['read']>, string>;
};
