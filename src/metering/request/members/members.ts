/**
 * Treatment of a member of a request (docs/charges.md): `priced` at a unit of its own, `held` as tokens, `refused` where no
 * price could be right, `free` where the provider takes nothing for it.
 */
export type Treatment = 'priced' | 'held' | 'refused' | 'free';

/** What one table says of one member. */
export interface Member {
  readonly treatment: Treatment;
  /** Whether checks and holds read its value, so that a body must not have it twice or in other letters. */
  readonly isRead: boolean;
  /** A refusal that its presence alone decides. Others depend on the value, and the code beside it decides. */
  readonly refusal?: 'other model' | 'fee' | 'always';
  /** Table of the members of its value, or of the elements of its value; undefined: what is inside is not looked at. */
  readonly within?: Members;
  /** Whether what is inside is the client's own or the provider's text, and needs no table. */
  readonly isOpen: boolean;
}

/** Members of one place in a request, by their names. */
export type Members = ReadonlyMap<string, Member>;

/**
 * Names by their treatment, divided by spaces. `name.*` is open: what is inside costs no more than its text.
 */
export interface Lists {
  readonly priced?: string;
  readonly held?: string;
  readonly free?: string;
  /** Free themselves, and they decide how the rest is read. */
  readonly read?: string;
  /** Uploaded files of a form: priced, and read as files. */
  readonly files?: string;
  /** Refused by the code beside, where the value asks for more than the plain thing. */
  readonly refused?: string;
  /** Refused: another model would run than the one that was checked and priced. */
  readonly otherModels?: string;
  /** Refused unless null or false: fees that no unit charges. */
  readonly fees?: string;
  /** Refused with any value, in any letters. */
  readonly always?: string;
  /** Tables for the members of objects, by the name of the object. `self`: this table once more. */
  readonly within?: Readonly<Record<string, Members | 'self'>>;
}

const LISTS: readonly (readonly [keyof Lists, Omit<Member, 'isOpen' | 'within'>])[] = [
  ['priced', { treatment: 'priced', isRead: true }],
  ['held', { treatment: 'held', isRead: true }],
  ['free', { treatment: 'free', isRead: false }],
  ['read', { treatment: 'free', isRead: true }],
  ['files', { treatment: 'priced', isRead: false }],
  ['refused', { treatment: 'refused', isRead: true }],
  ['otherModels', { treatment: 'refused', isRead: true, refusal: 'other model' }],
  ['fees', { treatment: 'refused', isRead: true, refusal: 'fee' }],
  ['always', { treatment: 'refused', isRead: false, refusal: 'always' }],
];

const OPEN = '.*';

/** The table of these lists. Throws where one name stands in two of them, or none has the name of a table within. */
export function membersOf(lists: Lists): Members {
  const table = new Map<string, Member>();
  for (const [list, member] of LISTS) {
    const names = lists[list];
    if (typeof names !== 'string') continue;
    for (const written of names.trim().split(/\s+/)) {
      const isOpen = written.endsWith(OPEN);
      const name = isOpen ? written.slice(0, -OPEN.length) : written;
      if (table.has(name)) throw new Error(`${name} stands in two lists`);
      table.set(name, { ...member, isOpen });
    }
  }
  for (const [name, within] of Object.entries(lists.within ?? {})) {
    const member = table.get(name);
    if (!member) throw new Error(`${name} stands in no list`);
    table.set(name, { ...member, within: within === 'self' ? table : within });
  }
  return table;
}

/** Names in a table that have a refusal of this kind. */
export function refusedIn(table: Members, refusal: Member['refusal']): readonly string[] {
  return [...table].filter(([, member]) => member.refusal === refusal).map(([name]) => name);
}
