import type { Price } from '../../domain/catalog.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import {
  type DatedPrices,
  isGuess,
  type ListModel,
  type ListPrices,
  type ListProvider,
} from './list-data.ts';
import { type Exchange, maxPriceOf, NotExpressible, priceOfList } from './list-price.ts';
import type { PriceList } from './price-list.ts';

/** A model of the list, with its prices at the moment of the look-up. */
export interface ListedModel {
  /** The list's own name of it. */
  readonly id: string;
  /** Whether the list may mean an earlier model, whose name this one's begins with. */
  readonly isGuess: boolean;
  /** Tokens that it can read in one pass, if the list knows. */
  readonly contextWindow: number | undefined;
  /** The prices, or the reason why they cannot be charged exactly. */
  readonly priced: Priced | { readonly why: string };
  /** The next day (YYYY-MM-DD, UTC) with other prices; undefined: the list knows of none. */
  readonly changesOn: string | undefined;
}

interface Priced {
  /** With the markup. */
  readonly price: Price;
  /** Without: the provider's price. */
  readonly cost: Price;
}

/** Groq bills a request of whisper as 10 seconds at least (its price page): seconds alone cannot say that. */
const LEAST_SECONDS: ReadonlySet<string> = new Set(['groq']);

/** Names of models that search the web with every call, `gpt-4o-search-preview`; not of those for research. */
const SEARCHES = /(?<!re)search/i;

/** Terms of a look-up: the exchange of US dollars for credits, and the moment at which the price is looked up. */
interface PriceTerms {
  readonly exchange: Exchange;
  readonly now: Date;
}

/** Looks up a model by any of its names; undefined if the list does not know it. */
export function listedModel(
  list: PriceList,
  provider: ListProvider,
  name: string,
  terms: PriceTerms,
): ListedModel | undefined {
  const model = list.model(provider, name);
  if (!model) return undefined;
  return {
    id: model.id,
    isGuess: isGuess(model, name),
    contextWindow: model.context_window,
    changesOn: validAt(model, terms.now).changesOn,
    priced: pricedAt(model, provider, terms),
  };
}

function pricedAt(
  model: ListModel,
  provider: ListProvider,
  { exchange, now }: PriceTerms,
): ListedModel['priced'] {
  const [one, ...more] = validAt(model, now).prices;
  if (LEAST_SECONDS.has(provider.id) && 'audio_hours' in one) {
    return {
      why: `${provider.id} bills 10 seconds of each request at least, which a price per second cannot say`,
    };
  }
  if (SEARCHES.test(model.id) && !('requests_kcount' in one)) {
    return {
      why: 'by its name it searches with every call, and the list has no price of a request; write the price with request',
    };
  }
  const priceAt = (of: Exchange) =>
    maxPriceOf([priceOfList(one, of), ...more.map((prices) => priceOfList(prices, of))]);
  try {
    const price = priceAt(exchange);
    return {
      price,
      cost: exchange.markup === TIMES_ONE ? price : priceAt({ ...exchange, markup: TIMES_ONE }),
    };
  } catch (error) {
    if (error instanceof NotExpressible) return { why: error.message };
    throw error;
  }
}

/** The fault of a provider that the list does not have: names those that may be meant, else all. */
export function unknownProvider(list: PriceList, name: string): string {
  const like = list.providerLike(name)?.id;
  const near = [...new Set([...(like === undefined ? [] : [like]), ...nearNames(name, list.ids)])];
  const known = near.length > 0 ? `like it: ${near.join(', ')}` : `known: ${list.ids.join(', ')}`;
  return `is no provider of the price list (${list.version}); ${known}`;
}

/** Models of a provider whose names are like one that the list does not know: `(like it: …)`, or nothing. */
export function likeModels(provider: ListProvider, name: string): string {
  const near = nearNames(
    name,
    provider.models.map(({ id }) => id),
  );
  return near.length > 0 ? ` (like it: ${near.join(', ')})` : '';
}

/**
 * The known names that are most like `name`, the nearest first, at most three; names that are unlike it are left out.
 */
export function nearNames(name: string, known: Iterable<string>): string[] {
  const asked = name.toLowerCase();
  const farthest = Math.max(1, Math.floor(asked.length / 3));
  return [...known]
    .map((one) => ({ one, far: distance(asked, one.toLowerCase()) }))
    .filter(({ one, far }) => far <= farthest || one.includes(asked) || asked.includes(one))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ one }) => one);
}

/** Characters to add, remove or replace to make one text of the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

interface ValidPrices {
  /** Prices that are valid at the moment; several if they depend on the time of day. */
  readonly prices: readonly [ListPrices, ...ListPrices[]];
  /** The next day, as YYYY-MM-DD in UTC, from which on other prices are valid. */
  readonly changesOn: string | undefined;
}

/**
 * Prices of a model at a moment: of all that are valid then the last in the list counts, and the first one if none is.
 * Those by time of day are all taken that count at some time of a day.
 */
export function validAt({ prices }: Pick<ListModel, 'prices'>, now: Date): ValidPrices {
  if (!isDated(prices)) return { prices: [prices], changesOn: undefined };
  const valid: ListPrices[] = [];
  const later: string[] = [];
  for (const { constraint, prices: of } of prices.toReversed()) {
    if (constraint && 'start_date' in constraint && new Date(constraint.start_date) > now) {
      later.push(constraint.start_date);
      continue;
    }
    valid.push(of);
    if (!constraint || 'start_date' in constraint)
      return { prices: some(valid, of), changesOn: first(later) };
  }
  const fallback = prices[0]?.prices ?? {};
  return {
    prices: some(valid.includes(fallback) ? valid : [...valid, fallback], fallback),
    changesOn: first(later),
  };
}

function isDated(prices: ListModel['prices']): prices is readonly DatedPrices[] {
  return Array.isArray(prices);
}

function some(valid: readonly ListPrices[], fallback: ListPrices): [ListPrices, ...ListPrices[]] {
  const [one = fallback, ...more] = valid;
  return [one, ...more];
}

function first(days: readonly string[]): string | undefined {
  return days.toSorted()[0];
}
