import type { Unit } from '../../domain/price-units.ts';

const PICTURES: readonly Unit[] = ['inputImage', 'cachedInputImage'];
const SOUND: readonly Unit[] = ['inputAudio', 'cachedInputAudio'];
const HOUR: readonly Unit[] = ['cacheWrite1h'];

/** Units, beside the plain ones, by which input of these kinds can be charged; undefined for text alone. */
export function inputUnits(
  { hasPictures, hasSound }: { readonly hasPictures: boolean; readonly hasSound: boolean },
  asksHourCache: boolean,
): readonly Unit[] | undefined {
  if (!hasPictures && !hasSound && !asksHourCache) return undefined;
  return [...(hasPictures ? PICTURES : []), ...(hasSound ? SOUND : []), ...(asksHourCache ? HOUR : [])];
}
