/** What of an account a reader sees: all of it, one key, or the keys of a person. */
export interface Seen {
  /** The only readable key, without balances. */
  readonly onlyKeyId: number | undefined;
  /** The person whose keys alone are readable, without balances. */
  readonly onlyPersonId?: number | undefined;
}

/** Whether a reader sees the whole account, its balances too. */
export function seesAll({ onlyKeyId, onlyPersonId }: Seen): boolean {
  return onlyKeyId === undefined && onlyPersonId === undefined;
}
