import { requestOrigin } from './origins.ts';

/** Headers that facts come from, as Node gives them. */
export interface CallerHeaders {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
}

interface Words {
  /** Description of the question in an explained call. */
  readonly ask: string;
  /** Description in answers. */
  readonly help: string;
  /** Label on the dashboard, and the word there for a question without it. */
  readonly label: string;
  readonly unasked: string;
  /** Sentence about a check of the value, as the API or the dashboard shows it; null: unknown, or none. */
  readonly checked: (shown: string | null) => string;
}

type Row = Words &
  (
    | { readonly kind: 'address' | 'country' }
    | { readonly kind: 'text'; readonly from: (headers: CallerHeaders) => string | undefined }
  );

/**
 * Facts of a caller that restrictions check, a row each: `explain` takes and returns them, the record of a refused call
 * has them, and the dashboard shows both. A restriction names the facts that it reads (`reads` in key-fields.ts).
 */
export const CALLER_FACTS = {
  ip: {
    kind: 'address',
    ask: 'Address of the caller. Default: yours.',
    help: 'Address of the caller; null: unknown.',
    label: 'Caller IP address',
    unasked: 'Yours',
    checked: (ip) => `Checked from ${ip ?? 'an unknown address'}.`,
  },
  country: {
    kind: 'country',
    ask: 'ISO 3166-1 alpha-2 code. Default: the country of the address.',
    help: 'Country of the address, ISO 3166-1 alpha-2; null: unknown.',
    label: 'Country',
    unasked: 'Country of the IP address',
    checked: (country) => (country === null ? 'Checked with no country.' : `Checked from ${country}.`),
  },
  origin: {
    kind: 'text',
    from: ({ origin, referer }) => requestOrigin(origin, referer),
    ask: 'The header `Origin`. Default: none.',
    help: 'Origin of the request; null: none.',
    label: 'Origin',
    unasked: 'None is sent',
    checked: (origin) => (origin === null ? 'Checked with no origin.' : `Checked with the origin ${origin}.`),
  },
} as const satisfies Readonly<Record<string, Row>>;

export type CallerFact = keyof typeof CALLER_FACTS;

export const CALLER_FACT_NAMES = Object.keys(CALLER_FACTS) as readonly CallerFact[];

/** One value for each fact. */
export function eachFact<T>(of: (fact: CallerFact) => T): { readonly [F in CallerFact]: T } {
  return Object.fromEntries(CALLER_FACT_NAMES.map((fact) => [fact, of(fact)])) as {
    readonly [F in CallerFact]: T;
  };
}
