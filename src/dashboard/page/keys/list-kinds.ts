import { normaliseRange } from '../../../domain/addresses.ts';
import { parseOriginRule } from '../../../domain/origins.ts';
import { countryCode } from '../format/countries.ts';
import type { ItemKind } from '../ui/typed-list.ts';

/** What may stand in the lists of a key that are typed item by item. */
export const ADDRESS: ItemKind = {
  read: normaliseRange,
  wanted: 'an IPv4 or IPv6 address or CIDR range',
  spaceParts: true,
};
export const ORIGIN: ItemKind = { read: parseOriginRule, wanted: 'an origin', spaceParts: true };
export const COUNTRY: ItemKind = { read: countryCode, wanted: 'the name or code of a country' };
