/** A list in a form: its items, and the typed text of items that are not added yet. */
export interface TypedList {
  readonly items: readonly string[];
  readonly text: string;
}

/** A kind of list items. */
export interface ItemKind {
  /** Parses an item to its normal form; undefined if the text is no such item. */
  readonly read: (text: string) => string | undefined;
  /** Name of the kind for messages: "an address or range". */
  readonly wanted: string;
  /** True if a space separates two items, as in a pasted list. */
  readonly spaceParts?: boolean;
}

export const EMPTY_LIST: TypedList = { items: [], text: '' };

/** Splits typed text: valid items in their normal form, and the rest as typed. */
export function partsOf(text: string, { read, spaceParts }: ItemKind): { good: string[]; wrong: string[] } {
  const typed = text
    .split(spaceParts ? /[\s,;]+/ : /[,;\n]+/)
    .map((part) => part.trim())
    .filter(Boolean);
  return {
    good: typed.flatMap((part) => read(part) ?? []),
    wrong: typed.filter((part) => read(part) === undefined),
  };
}

/** The list with the typed items added to it; invalid ones stay in the text. */
export function taken({ items, text }: TypedList, kind: ItemKind): TypedList {
  const { good, wrong } = partsOf(text, kind);
  return { items: [...new Set([...items, ...good])], text: wrong.join(', ') };
}

/** Fault of the typed text in words; "" where there is none. */
export function wrongIn(text: string, kind: ItemKind): string {
  const [first] = partsOf(text, kind).wrong;
  return first === undefined ? '' : `“${first}” is not ${kind.wanted}.`;
}
