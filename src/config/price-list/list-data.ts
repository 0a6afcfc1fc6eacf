/** How a name is compared with the names that providers use for a model. Letter case counts in `regex` alone. */
export type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string };

/** A price that grows with the input: `start` is exceeded by all input tokens of a request, and prices it whole. */
export interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices in US dollars by the list's own names: `input_mtok` is for 1,000,000 tokens. */
export type ListPrices = Readonly<Record<string, number | TieredPrice>>;

/** When prices are valid. Of those that are, the last in the list counts. */
export type Constraint =
  | { readonly start_date: string }
  | { readonly start_time: string; readonly end_time: string };

export interface DatedPrices {
  readonly constraint?: Constraint;
  readonly prices: ListPrices;
}

export interface ListModel {
  readonly id: string;
  readonly match: Match;
  readonly context_window?: number;
  readonly prices: ListPrices | readonly DatedPrices[];
}

export interface ListProvider {
  readonly id: string;
  readonly models: readonly ListModel[];
  readonly provider_match?: Match;
  /** Providers whose models this one sells at their prices. */
  readonly fallback_model_providers?: readonly string[];
}

/** Whether a name is one of those that a model, or a provider, goes by. */
export function matches(match: Match, name: string): boolean {
  const lower = name.toLowerCase();
  if ('or' in match) return match.or.some((one) => matches(one, name));
  if ('and' in match) return match.and.every((one) => matches(one, name));
  if ('equals' in match) return lower === match.equals.toLowerCase();
  if ('starts_with' in match) return lower.startsWith(match.starts_with.toLowerCase());
  if ('ends_with' in match) return lower.endsWith(match.ends_with.toLowerCase());
  if ('contains' in match) return lower.includes(match.contains.toLowerCase());
  return new RegExp(match.regex).test(name);
}

/**
 * The model of a provider that goes by a name: its own, then those of the providers whose models it sells. Names with a date
 * are known to the list as `-20251001` or as `-2025-10-01`; either finds the other. Some entries do not go by their own id:
 * that finds them last.
 */
export function modelOf(
  provider: ListProvider,
  name: string,
  providerOf: (id: string) => ListProvider | undefined,
): ListModel | undefined {
  const asked = name.toLowerCase().trim();
  const dated = asked.replace(/-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3');
  const sellers = [provider, ...(provider.fallback_model_providers ?? []).map(providerOf)];
  for (const written of new Set([asked, dated])) {
    for (const seller of sellers) {
      const model = seller?.models.find(({ match }) => matches(match, written));
      if (model) return model;
    }
  }
  return provider.models.find(({ id }) => id.toLowerCase() === asked);
}

/** Suffixes that do not make a name another model: a date, a version of its files, "latest". */
const SUFFIX = /^([-@:](latest|preview|\d{8}|\d{4}-\d\d-\d\d|\d{4}|v\d+(:\d+)?|00[12]))+$/;

/**
 * Whether a model of the list was found by the beginning of a name alone, so that the name may be that of a later model at
 * another price: the list's claude-sonnet-5 also answers to claude-sonnet-5-5.
 */
export function isGuess({ id, match }: ListModel, name: string): boolean {
  const asked = name.toLowerCase().trim();
  if (asked === id.toLowerCase() || isSpelledOut(match, asked)) return false;
  return asked.startsWith(id.toLowerCase()) && !SUFFIX.test(asked.slice(id.length));
}

function isSpelledOut(match: Match, name: string): boolean {
  if ('or' in match) return match.or.some((one) => isSpelledOut(one, name));
  return 'equals' in match && matches(match, name);
}
