import { memoized } from './memoized.ts';

/** A list of model names, of which each may end in `*` and then means every name that begins so. */
export interface ModelNames {
  has(slug: string): boolean;
}

/** Compiles `allowed_models`. A name without `*` costs nothing more than a look-up. */
export const modelNames = memoized((names: readonly string[]): ModelNames => {
  const exact = new Set(names);
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return { has: (slug) => exact.has(slug) || starts.some((start) => slug.startsWith(start)) };
});
