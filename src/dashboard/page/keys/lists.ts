import { ADDRESS, type Item, ORIGIN } from '../../../domain/key-readers.ts';
import { rowAt, type TypedField } from '../../../domain/key-settings.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { countryCode, countryName } from '../format/countries.ts';

/** List fields whose items are typed. */
export type ListField = TypedField | 'allowed_models';

/** A kind of items: how they are typed, shown and sent. */
interface ItemKind {
  /** Parses a typed item to what the API takes; undefined if the text is no such item. */
  readonly read: (text: string) => string | undefined;
  /** Name of the kind for messages: "an address or range". */
  readonly wanted: string;
  /** How an item is shown in the list. Default: as the API has it. */
  readonly show?: (item: string) => string;
  /** Characters that end an item. */
  readonly ends: readonly string[];
}

const SPACED = [' ', ',', ';', '\n', '\t'];
const IN_LINES = [',', ';', '\n'];

export const ITEM_KINDS: Readonly<Record<ListField, ItemKind>> = {
  allowed_models: { ...(rowAt('allowed_models').type.item as Item), ends: IN_LINES },
  allowed_ips: { read: ADDRESS.read, wanted: 'an IPv4 or IPv6 address or CIDR range', ends: SPACED },
  allowed_origins: { read: ORIGIN.read, wanted: 'an origin', ends: SPACED },
  blocked_countries: {
    read: countryCode,
    wanted: 'the name or code of a country',
    show: countryName,
    ends: IN_LINES,
  },
};

/** Items as they are shown while they are edited: typed ones in their normal form, wrong ones as they were typed. */
export function shownItems(field: ListField, texts: readonly string[]): string[] {
  const { read, show = (item) => item, ends } = ITEM_KINDS[field];
  const parts = texts.flatMap((text) =>
    read(text.trim()) === undefined ? splitAt(text, ends) : [text.trim()],
  );
  const shown = parts.map((part) => {
    const item = read(part);
    return item === undefined ? part : show(item);
  });
  return [...new Set(shown)];
}

function splitAt(text: string, ends: readonly string[]): string[] {
  const parts = ends.reduce((texts, end) => texts.flatMap((one) => one.split(end)), [text]);
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** The list for the API. Throws an ApiFailure about the first item that is wrong. */
export function readItems(field: ListField, texts: readonly string[]): string[] {
  const { read, wanted } = ITEM_KINDS[field];
  const items = shownItems(field, texts).map((text) => {
    const item = read(text);
    if (item !== undefined) return item;
    throw new ApiFailure(0, 'invalid_field', `“${text}” is not ${wanted}. Correct or remove it.`, field);
  });
  return [...new Set(items)];
}
