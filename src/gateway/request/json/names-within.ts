import { foldName, type GatewayError, invalidJson, otherCase } from '../../../domain/errors.ts';
import type { Members } from '../../../metering/members.ts';
import { ENDPOINTS } from '../../endpoints.ts';
import type { JsonCounts } from './json-counts.ts';
import { NotJson } from './not-json.ts';

/**
 * Members of the request whose objects may not repeat a name, because their content decides kind, cost or references:
 * an upstream could read the first one, and JSON.parse keeps the last.
 */
const CHECKED: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'system',
  'prompt',
  'tools',
  'functions',
  'mcp_servers',
  'thinking',
  'reasoning',
  'container',
  'conversation',
  'cache_control',
  'context_management',
  'prediction',
  'prompt_cache_options',
  'stream_options',
]);

/** Members with names that the client or the model made up; none decides anything or is an id. */
export const MADE_UP_NAMES = [
  // Labels of a call or a turn; the last two are Codex's.
  'metadata',
  'client_metadata',
  'internal_chat_message_metadata_passthrough',
  // JSON Schemas.
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'json_schema',
  'guided_json',
  'structured_outputs',
  // Arguments of tool calls.
  'arguments',
  'action',
] as const;

/** Members whose names may repeat. */
const FREE: ReadonlySet<string> = new Set([...MADE_UP_NAMES, 'input_examples', 'attributes']);

/** Members with names made up by a client, a server or a tool: any spelling, but no repeats. */
const SPELLED_FREELY: ReadonlySet<string> = new Set([
  'headers',
  'env',
  'variables',
  'results',
  'outputs',
  'error',
  'provider_specific_fields',
]);

/** Nested names that are held, and whose value decides how much. */
const HELD = [
  'type',
  'include_usage',
  'budget_tokens',
  // In tools: who runs them, and how often.
  'execution',
  'environment',
  'tools',
  'max_uses',
  'max_content_tokens',
  // In messages and edits of the conversation.
  'tool',
  'definition',
  'tool_changes',
  'cache_control',
  'edits',
  'trigger',
  'compact_threshold',
];

/** Nested names that decide: an upstream that ignores case would read other spellings too. */
const DECIDING: ReadonlySet<string> = new Set([
  ...HELD,
  ...ENDPOINTS.flatMap(({ members }) => (members ? namesBelow(members) : [])),
]);

/** Names that cost or are refused in the tables below `members`. */
function namesBelow(members: Members, seen = new Set<Members>()): string[] {
  return [...members.values()].flatMap(({ within }) => {
    if (!within || seen.has(within)) return [];
    seen.add(within);
    const names = [...within].filter(
      ([, { treatment }]) => treatment === 'priced' || treatment === 'refused',
    );
    return [...names.map(([name]) => name), ...namesBelow(within, seen)];
  });
}

/** `type` of a tool call, whose `input` has the tool's own names. */
export const TOOL_USE = /tool_use$/;
const PLAIN = /^[a-z0-9_]*$/;
/** Length of names that are remembered by a number made of their bytes: the same few dozen recur. */
const MAX_KNOWN = 40;
const KNOWN: (string | undefined)[] = new Array(512).fill(undefined);
/** Number of names in an object from which a set compares them. */
const MANY_NAMES = 16;
/** Marks a list among the numbers of names. */
const LIST = -1;

/** A name that is repeated, or a spelling that could be read as `folded`. */
interface Found {
  readonly name: string;
  readonly folded?: string;
}

/**
 * Refuses nested names that an upstream could read in two ways: one repeated in an object, in any spelling, or a
 * deciding one that is not in plain lower case. It receives the objects, lists and names of a body in order.
 */
export class NamesWithin {
  readonly #counts: JsonCounts;
  /** Names of the open objects, outermost first; for each open object or list the index of its first name, or LIST. */
  readonly #names: string[] = [];
  readonly #firsts: number[] = [];
  /** Name sets of large open objects, by depth. */
  #many: Map<number, Set<string>> | undefined;
  /** Folded forms of unusual names: a client can repeat the same one very often. */
  #spellings: Map<string, string> | undefined;
  /** Whether each open object is a tool call. */
  readonly #callsTool: boolean[] = [];
  /** Depth from which names are free. */
  #free = 0;
  /** Depths at which an `input` begins, which is free if its object is a tool call. */
  readonly #inputs: number[] = [];
  /** First finding in the `input` of the object at this depth; refused unless the object is a tool call. */
  #suspicion: { readonly depth: number; readonly found: Found } | undefined;
  /** Depth of the outermost value with freely spelled names; 0: none. */
  #spelledFreely = 0;
  /** Last name of the innermost object. */
  #member = '';
  /** The member of the request being read. */
  #root = '';

  constructor(counts: JsonCounts) {
    this.#counts = counts;
  }

  /** A member of the request itself begins. */
  root(name: string): void {
    this.#root = name;
    this.#member = name;
  }

  /** Whether the names of the innermost object are checked; the request's own are not. */
  get isChecking(): boolean {
    return this.#free === 0 && this.#firsts.length > 1 && this.#firsts.at(-1) !== LIST;
  }

  /** Whether the value that begins now has made-up names. */
  get isFreeNext(): boolean {
    return this.isChecking && FREE.has(this.#member);
  }

  open(isObject: boolean): void {
    const depth = this.#firsts.length;
    if (this.#free > 0 || (depth > 0 && this.#isFree(depth))) {
      this.#free++;
      return;
    }
    this.#firsts.push(isObject ? this.#names.length : LIST);
    this.#callsTool.push(false);
  }

  /** Throws 400 `invalid_json` for a finding in the `input` of an object that is no tool call. */
  close(): void {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const first = this.#firsts.pop();
    const callsTool = this.#callsTool.pop() === true;
    if (first !== undefined && first !== LIST) this.#names.length = first;
    const depth = this.#firsts.length;
    this.#many?.delete(depth);
    if (this.#spelledFreely === depth) this.#spelledFreely = 0;
    if (this.#inputs.at(-1) === depth) this.#inputs.pop();
    if (this.#suspicion?.depth !== depth) return;
    const { found } = this.#suspicion;
    this.#suspicion = undefined;
    if (!callsTool) this.#refuse(found);
  }

  /**
   * Handles a name of a checked object: the bytes [from, end), without quotes. Returns whether its value is the
   * object's type. Throws 400 `invalid_json`.
   */
  name(bytes: Buffer, from: number, end: number): boolean {
    const name = knownName(bytes, from, end) ?? this.#spelled(bytes, from, end);
    const depth = this.#firsts.length - 1;
    const first = this.#firsts[depth] as number;
    if (this.#has(name, first, depth)) this.#refuse({ name });
    this.#names.push(name);
    this.#member = name;
    return name === 'type';
  }

  /** A name too long to be a deciding one. */
  longName(): void {
    this.#member = '';
  }

  /** The innermost object's type, as written between its quotes. */
  type(raw: string): void {
    if (TOOL_USE.test(raw.includes('\\') ? decoded(raw) : raw))
      this.#callsTool[this.#callsTool.length - 1] = true;
  }

  #isFree(depth: number): boolean {
    if (depth === 1) return !CHECKED.has(this.#root);
    if (this.#firsts.at(-1) === LIST) return false;
    const member = this.#member;
    if (FREE.has(member)) return true;
    if (member === 'input') this.#inputs.push(depth);
    else if (SPELLED_FREELY.has(member)) this.#spelledFreely ||= depth;
    return false;
  }

  #has(name: string, first: number, depth: number): boolean {
    const names = this.#names;
    if (names.length - first < MANY_NAMES) return names.indexOf(name, first) >= 0;
    this.#many ??= new Map();
    const many = this.#many.get(depth) ?? new Set(names.slice(first));
    this.#many.set(depth, many);
    if (many.has(name)) return true;
    many.add(name);
    return false;
  }

  #spelled(bytes: Buffer, from: number, end: number): string {
    const raw = bytes.toString('latin1', from, end);
    if (PLAIN.test(raw)) {
      if (raw.length <= MAX_KNOWN) KNOWN[placeOf(bytes, from, end)] = raw;
      return raw;
    }
    this.#counts.oddName();
    const known = this.#spellings?.get(raw);
    if (known !== undefined) return known;
    const name = decoded(raw);
    const folded = foldName(name);
    if (folded !== name && DECIDING.has(folded)) {
      if (this.#spelledFreely === 0) this.#refuse({ name, folded });
      return folded;
    }
    this.#spellings ??= new Map();
    this.#spellings.set(raw, folded);
    return folded;
  }

  #refuse(found: Found): void {
    const input = this.#inputs.at(-1);
    // The object with this `input` is the innermost one around it.
    if (input !== undefined) this.#suspicion ??= { depth: input - 1, found };
    else throw refusalOf(found, this.#root);
  }
}

function refusalOf({ name, folded }: Found, root: string): GatewayError {
  if (folded !== undefined) return otherCase(`An object in ${root}`, name, folded, root);
  const shown = name.slice(0, 100);
  return invalidJson(`${root} has an object with the field "${shown}" more than once. Send it once.`, root);
}

/** The name in [from, end) if it is known and plain, so that all its spellings are equal. */
function knownName(bytes: Buffer, from: number, end: number): string | undefined {
  const known = KNOWN[placeOf(bytes, from, end)];
  return known !== undefined && isAt(known, bytes, from, end) ? known : undefined;
}

function placeOf(bytes: Buffer, from: number, end: number): number {
  return ((bytes[from] as number) * 31 + (bytes[end - 1] as number) * 7 + (end - from)) & (KNOWN.length - 1);
}

function isAt(name: string, bytes: Buffer, from: number, end: number): boolean {
  if (name.length !== end - from) return false;
  for (let index = 0; index < name.length; index++)
    if (name.charCodeAt(index) !== bytes[from + index]) return false;
  return true;
}

/** Decodes a string as written between its quotes. Throws 400 `invalid_json`. */
export function decoded(raw: string): string {
  try {
    return JSON.parse(`"${Buffer.from(raw, 'latin1').toString()}"`) as string;
  } catch {
    throw new NotJson();
  }
}
