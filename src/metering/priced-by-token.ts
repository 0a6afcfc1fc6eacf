import type { Model } from '../domain/catalog.ts';

/** Whether tokens cost anything on this model. */
export function isPricedByToken({ price }: Model): boolean {
  return price.input > 0n || price.output > 0n || price.cachedInput > 0n || price.cacheWrite > 0n;
}
