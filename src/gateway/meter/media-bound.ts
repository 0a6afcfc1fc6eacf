import type { Model } from '../../domain/catalog.ts';
import type { Micro } from '../../domain/credits.ts';
import type { Usage } from '../../domain/ledger-entry.ts';
import { chargeFor } from '../../domain/price.ts';

/** Whether tokens cost anything on this model. */
export function isPricedByToken({ price }: Model): boolean {
  return price.input > 0n || price.output > 0n || price.cachedInput > 0n;
}

/**
 * What at most this usage costs, with the price of the request and with its input priced in the dearest way. Units
 * without a price cost nothing, so a model that is priced by image, character or second alone gets an exact hold, whatever
 * the bound of its tokens.
 */
export function boundFor({ price }: Model, usage: Usage): Micro {
  const dearest = price.input > price.cachedInput ? price.input : price.cachedInput;
  return chargeFor({ ...price, input: dearest }, { ...usage, requests: 1 });
}
