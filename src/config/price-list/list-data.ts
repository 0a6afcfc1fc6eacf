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
