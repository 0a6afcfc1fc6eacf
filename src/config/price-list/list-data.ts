/** How to compare a name with the names that providers use for a model. Only `regex` is case-sensitive. */
export type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string };

/**
 * A price that grows with the input: if a request's total input tokens exceed `start`, this price applies to all of it.
 */
export interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Prices in US dollars by list name: `input_mtok` is for 1,000,000 tokens. */
export type ListPrices = Readonly<Record<string, number | TieredPrice>>;

/** When prices are valid. The last valid entry of the list counts. */
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
  /** Providers whose models this one resells at their prices. */
  readonly fallback_model_providers?: readonly string[];
}

/** Whether a name matches a model or provider. */
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
 * Finds a provider's model by name, first among its models, then among those of the providers it resells. The list
 * writes dates in names as `-20251001` or as `-2025-10-01`; either finds the other. Some entries don't match their id,
 * which is tried last.
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

/** Suffixes that don't name another model: a date, a file version, "latest". */
const SUFFIX = /^([-@:](latest|preview|\d{8}|\d{4}-\d\d-\d\d|\d{4}|v\d+(:\d+)?|00[12]))+$/;

/**
 * Whether only a prefix of the name matched, so the name may be a later model at another price: the list's
 * claude-sonnet-5 also matches claude-sonnet-5-5.
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
