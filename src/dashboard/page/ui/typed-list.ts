/** A list as a field holds it: what is in it, and what is typed beside it and not taken yet. */
export interface TypedList {
  readonly items: readonly string[];
  readonly text: string;
}

/** What may stand in a list. */
export interface ItemKind {
  /** The item as it will be kept, or undefined where the text is none. */
  readonly read: (text: string) => string | undefined;
  /** What is wanted: "an address or range". */
  readonly wanted: string;
  /** Whether a space parts two items, as in a pasted list. */
  readonly spaceParts?: boolean;
}

export const EMPTY_LIST: TypedList = { items: [], text: '' };

/** What is typed, item by item: those that can be taken, as they will be kept, and those that cannot, as they are typed. */
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

/** The list with what is typed taken into it; what cannot be taken stays typed. */
export function taken({ items, text }: TypedList, kind: ItemKind): TypedList {
  const { good, wrong } = partsOf(text, kind);
  return { items: [...new Set([...items, ...good])], text: wrong.join(', ') };
}

/** What is wrong with what is typed; "" where nothing is. */
export function wrongIn(text: string, kind: ItemKind): string {
  const [first] = partsOf(text, kind).wrong;
  return first === undefined ? '' : `“${first}” is not ${kind.wanted}.`;
}
