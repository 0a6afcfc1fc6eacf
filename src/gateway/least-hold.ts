import type { Model } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';
import type { Category } from '../domain/key.ts';
import { holdFor } from '../domain/price.ts';
import type { Usage } from '../domain/usage.ts';

const LEAST_USAGE: Readonly<Record<Category, Usage>> = {
  text: { input: 1 },
  image: { input: 1, images: 1 },
  tts: { characters: 1 },
  stt: { audioSeconds: 1 },
  video: { videoSeconds: 1 },
};

/** The least that any call of a model holds; `explain`, which has no request, compares it with limit and balance. */
export function leastHold(model: Model): Micro {
  return holdFor(model.price, LEAST_USAGE[model.category]);
}
