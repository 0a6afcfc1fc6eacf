import type { Price } from '../../domain/catalog.ts';
import { nearNames } from '../../domain/near-names.ts';
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

/** A model in the list, with its prices at the time of the lookup. */
export interface ListedModel {
  /** Name in the list. */
  readonly id: string;
  /** Whether the list may mean an earlier model, whose name is a prefix of this one. */
  readonly isGuess: boolean;
  /** Context window, if the list has it. */
  readonly contextWindow: number | undefined;
  /** The prices, or the reason why they can't be charged exactly. */
  readonly priced: Priced | { readonly why: string };
  /** Next day (YYYY-MM-DD, UTC) with other prices; undefined: none in the list. */
  readonly changesOn: string | undefined;
}

interface Priced {
  /** Includes the markup. */
  readonly price: Price;
  /** Without markup: the provider's price. */
  readonly cost: Price;
}

/** Groq bills at least 10 seconds per whisper request (its price page), which a price per second can't express. */
const HAVE_MIN_SECONDS: ReadonlySet<string> = new Set(['groq']);

/** Models that search the web on every call, such as `gpt-4o-search-preview`; not research models. */
const SEARCHES = /(?<!re)search/i;

/** Exchange rate for credits, and time of the lookup. */
interface PriceTerms {
  readonly exchange: Exchange;
  readonly now: Date;
}

/** Finds a model by any of its names; undefined if not listed. */
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
  if (HAVE_MIN_SECONDS.has(provider.id) && 'audio_hours' in one) {
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

/** Fault for an unlisted provider: suggests similar names, or else lists all. */
export function unknownProvider(list: PriceList, name: string): string {
  const like = list.providerLike(name)?.id;
  const near = [...new Set([...(like === undefined ? [] : [like]), ...nearNames(name, list.ids)])];
  const known = near.length > 0 ? `like it: ${near.join(', ')}` : `known: ${list.ids.join(', ')}`;
  return `is not a provider of the price list (${list.version}); ${known}`;
}

/** Suggests models of a provider for an unlisted name: `(like it: …)`, or "". */
export function likeModels(provider: ListProvider, name: string): string {
  const near = nearNames(
    name,
    provider.models.map(({ id }) => id),
  );
  return near.length > 0 ? ` (like it: ${near.join(', ')})` : '';
}

interface ValidPrices {
  /** Currently valid prices; several if they depend on the time of day. */
  readonly prices: readonly [ListPrices, ...ListPrices[]];
  /** Next day, as YYYY-MM-DD in UTC, with other prices. */
  readonly changesOn: string | undefined;
}

/**
 * Prices of a model at a given time: the last valid entry of the list, or the first if none is valid. Includes all
 * prices that apply at some time of day.
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
