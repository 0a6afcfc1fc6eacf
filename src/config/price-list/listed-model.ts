import type { Price } from '../../domain/catalog.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import type { ListModel, ListProvider } from './list-data.ts';
import { dearestOf, type Exchange, NotExpressible, priceOfList } from './list-price.ts';
import { isGuess } from './match.ts';
import { nearNames } from './near.ts';
import type { PriceList } from './price-list.ts';
import { validAt } from './valid-at.ts';

/** A model of the list, with its prices at the moment of the look-up. */
export interface ListedModel {
  /** The list's own name of it. */
  readonly id: string;
  /** Whether the list may mean an earlier model, whose name this one's begins with. */
  readonly isGuess: boolean;
  /** Tokens that it can read in one pass, where the list knows. */
  readonly contextWindow: number | undefined;
  /** The prices, or the reason why they cannot be charged exactly. */
  readonly priced: Priced | { readonly why: string };
  /** The next day (YYYY-MM-DD, UTC) with other prices; undefined: the list knows of none. */
  readonly changesOn: string | undefined;
}

interface Priced {
  /** With the markup. */
  readonly price: Price;
  /** Without: what the provider takes. */
  readonly cost: Price;
}

/** Groq bills a request of whisper as 10 seconds at least (its price page): seconds alone cannot say that. */
const LEAST_SECONDS: ReadonlySet<string> = new Set(['groq']);

/** Names of models that search the web with every call, `gpt-4o-search-preview`; not of those for research. */
const SEARCHES = /(?<!re)search/i;

/** Terms of a look-up: the exchange of US dollars for credits, and the moment at which the price is looked up. */
export interface PriceTerms {
  readonly exchange: Exchange;
  readonly now: Date;
}

/** Looks up a model by any of its names; undefined where the list does not know it. */
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
    dearestOf([priceOfList(one, of), ...more.map((prices) => priceOfList(prices, of))]);
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
