import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Model } from '../domain/catalog.ts';
import { isByVariant, type WrittenUnit } from '../domain/written-price.ts';

/** Every model of the file, including those whose upstream waits for a variable. */
export function everyModel({ catalog, unconfigured }: Pick<Config, 'catalog' | 'unconfigured'>): Model[] {
  return [...catalog.values(), ...unconfigured.flatMap(({ models }) => models)];
}

/** A path relative to the folder that the user is in: npm runs commands in the folder of the package. */
export function fromCaller(file: string): string {
  return resolve(process.env.INIT_CWD ?? '.', file);
}

/** A unit's price in a table: `2.000000`, `2.000000 (above 272000: 4.000000)` or `0.040000 (1024x1024), 0.080000 (high)`. */
export function unitText(written: WrittenUnit): string {
  if (typeof written === 'string') return written;
  if (isByVariant(written))
    return Object.entries(written)
      .map(([variant, price]) => `${price} (${variant})`)
      .join(', ');
  const [base, ...above] = written;
  return `${base?.price} (${above.map((step) => `above ${step.above}: ${step.price}`).join(', ')})`;
}
