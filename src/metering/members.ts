import { CLIENT_QUIRKS } from '../domain/clients.ts';
import { foldName, GatewayError } from '../domain/errors.ts';
import { isObject } from './json/value.ts';
import type { MeteredBody } from './meter.ts';
import { refuseModels, type Surcharge } from './plan.ts';

/**
 * Treatment of a member of a request (docs/charges.md): `priced` by its own unit, `held` as tokens, `refused` if no
 * price could be right, `free` if the provider takes nothing for it.
 */
export type Treatment = 'priced' | 'held' | 'refused' | 'free';

/** Treatment of one member in one table. */
interface Member {
  readonly treatment: Treatment;
  /** Whether checks and holds read its value, so that a body must not have it twice or in other letters. */
  readonly isRead: boolean;
  /** A refusal that its presence alone decides. Others depend on the value, and the code beside it decides. */
  readonly refusal?: 'other model' | 'fee' | 'unreported' | 'always';
  /** Table of the members of its value, or of the elements of its value; undefined: its members are not checked. */
  readonly within?: Members;
  /** Whether its content is the client's own or the provider's text, and needs no table. */
  readonly isOpen: boolean;
}

/** Members of one place in a request, by their names. */
export type Members = ReadonlyMap<string, Member>;

/**
 * Names by their treatment, divided by spaces. `name.*` is open: its content costs no more than its text.
 */
interface Lists {
  readonly priced?: string;
  readonly held?: string;
  readonly free?: string;
  /** Free themselves, and they decide how the rest is read. */
  readonly read?: string;
  /** Uploaded files of a form: priced, and read as files. */
  readonly files?: string;
  /** Refused by the code beside, if the value asks for more than the plain thing. */
  readonly refused?: string;
  /** Refused: another model would run than the one that was checked and priced. */
  readonly otherModels?: string;
  /** Refused unless null or false: fees that no unit charges. */
  readonly fees?: string;
  /** Refused unless null or false: the answer would not report the cost. */
  readonly unreported?: string;
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
  ['unreported', { treatment: 'refused', isRead: true, refusal: 'unreported' }],
  ['always', { treatment: 'refused', isRead: false, refusal: 'always' }],
];

const OPEN = '.*';

/** The table of these lists. Throws if a name is in two of them, or in none. */
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

/** Names in a table that make another model run. */
export function otherModelsIn(table: Members): readonly string[] {
  return [...table].filter(([, member]) => member.refusal === 'other model').map(([name]) => name);
}

/** `cache_control` of Anthropic, and of providers that pass it on. */
export const CACHE_CONTROL = membersOf({ free: 'type', priced: 'ttl' });
/** `prompt_cache_breakpoint` of OpenAI. */
export const CACHE_BREAKPOINT = membersOf({ free: 'mode', priced: 'ttl' });

export const STREAM_OPTIONS = membersOf({ read: 'include_usage', free: 'include_obfuscation' });

/** Lists that every request has. */
export const EVERYWHERE = {
  /** Members that make OpenAI, OpenRouter and LiteLLM run another model than the one named in `model`. */
  otherModels: 'models fallbacks fallback_models',
  /** Subagents of OpenAI's Responses: it sets no limit of them. */
  always: 'multi_agent',
} as const;

/** Providers whose requests the tables know whole, so that a member which is in no table is new. */
const KNOWN_PROVIDERS: ReadonlySet<string | undefined> = new Set(['openai', 'anthropic']);
/** What changes the cost of a call, in the words that vendors name members and values by. */
const COSTLY = /agent|tool|model|tier|speed|fast|cach|background|search|fallback/;
/** A value that chooses something, and no prose. */
const SETTING = /^\S{1,64}$/;
/** Most names and values inside an unknown member that are looked at. */
const MOST_INSIDE = 100;
const MOST_NAME = 100;
/** Most unknown members of one request that are listed. */
const MOST_UNKNOWN = 20;

/** Findings from the names in a request, without their values. */
export interface MemberFindings {
  /** What none of its members may ask for without a price. */
  readonly charges: readonly Surcharge[];
  /** Members that no table has, as `reasoning.style`. */
  readonly unknown: readonly string[];
}

/**
 * Compares the members of a request with the tables. Throws 400 `invalid_field` for a member that makes another model run.
 *
 * A member of the request costs one look into a Map; on upstreams of OpenAI and Anthropic so does one of its messages, tools
 * and options. No recursion, because a client decides how deep its JSON is.
 */
export function checkMembers({ kind, model, value }: MeteredBody, table: Members): MemberFindings {
  const walk = new Walk(KNOWN_PROVIDERS.has(model.upstream.provider) && model.priceSource !== 'free');
  walk.request(value, table, kind === 'form');
  walk.rest();
  return walk;
}

function unreported(name: string): GatewayError {
  const message = `${name} is not supported, because the response does not report its cost. Leave it out.`;
  const { field, details } = CLIENT_QUIRKS.toolRunners;
  return new GatewayError('invalid_field', message, name, undefined, name === field ? { details } : {});
}

class Walk implements MemberFindings {
  readonly charges: Surcharge[] = [];
  readonly unknown: string[] = [];
  readonly #knowsAll: boolean;
  /** Whether an unknown member is among the charges; one is enough for a refusal. */
  #isCostly = false;
  /** Stacks of the objects and lists that are still to be compared, of their tables and of their paths. */
  readonly #open: object[] = [];
  readonly #tables: Members[] = [];
  readonly #paths: string[] = [];

  constructor(knowsAll: boolean) {
    this.#knowsAll = knowsAll;
  }

  request(value: Readonly<Record<string, unknown>>, table: Members, isForm: boolean): void {
    for (const written in value) {
      // Fields of a form such as `include[]` and `svg[model]`.
      const name = isForm ? (written.split('[', 1)[0] as string) : written;
      const member = table.get(name);
      if (member === undefined) this.#strange(name, value[written], table);
      else if (member.refusal !== undefined) this.#refused(name, value[written], member);
      else if (member.within !== undefined) this.#push(value[written], member.within, name);
    }
  }

  rest(): void {
    for (let inner = this.#open.pop(); inner !== undefined; inner = this.#open.pop()) {
      const table = this.#tables.pop() as Members;
      const path = this.#paths.pop() as string;
      if (Array.isArray(inner)) {
        for (const element of inner) this.#push(element, table, path);
      } else this.#object(inner as Readonly<Record<string, unknown>>, table, path);
    }
  }

  #object(object: Readonly<Record<string, unknown>>, table: Members, path: string): void {
    for (const name in object) {
      const member = table.get(name);
      if (member === undefined) this.#unknown(name, object[name], path);
      else if (member.within !== undefined) this.#push(object[name], member.within, path);
    }
  }

  /** `path`: the member of the request that has them. Those deeper inside keep it, as messages have no end of levels. */
  #push(value: unknown, table: Members, path: string): void {
    if (!this.#knowsAll || typeof value !== 'object' || value === null) return;
    this.#open.push(value);
    this.#tables.push(table);
    this.#paths.push(path);
  }

  #refused(name: string, value: unknown, { refusal }: Member): void {
    if (refusal === 'always') this.#always(name);
    else if (refusal === 'other model') refuseModels({ [name]: value }, [name]);
    else if ((value ?? false) === false) return;
    else if (refusal === 'fee') this.charges.push({ param: name, what: name });
    else throw unreported(name);
  }

  #always(name: string): void {
    this.charges.push({ param: name, what: `${name}, whose subagents nothing limits` });
  }

  /** A member of the request that no table has by this spelling. */
  #strange(name: string, value: unknown, table: Members): void {
    const folded = foldName(name);
    if (table.get(folded)?.refusal === 'always') this.#always(folded);
    else this.#unknown(name, value, '');
  }

  #unknown(name: string, value: unknown, within: string): void {
    if (!this.#knowsAll || value === undefined || value === null) return;
    const isFull = this.unknown.length >= MOST_UNKNOWN;
    if (isFull && this.#isCostly) return;
    const path = (within ? `${within}.${name}` : name).slice(0, MOST_NAME);
    if (!isFull) this.unknown.push(path);
    if (this.#isCostly || !speaksOfCost(name, value)) return;
    this.#isCostly = true;
    this.charges.push({
      param: path,
      what: `${path}, an unknown field that could change the cost of the call`,
      setting: 'pricing.unpriced: pass',
    });
  }
}

/** Whether the name or value of a member hints at something that providers bill. Of objects the names and values inside count. */
function speaksOfCost(name: string, value: unknown): boolean {
  if (COSTLY.test(foldName(name))) return true;
  const open: unknown[] = [value];
  // The list grows while it is walked.
  for (const inner of open) {
    if (typeof inner === 'string') {
      if (SETTING.test(inner) && COSTLY.test(foldName(inner))) return true;
    } else if (Array.isArray(inner)) {
      if (open.length < MOST_INSIDE) open.push(...inner.slice(0, MOST_INSIDE));
    } else if (isObject(inner)) {
      for (const inside in inner) {
        if (COSTLY.test(foldName(inside))) return true;
        if (open.length < MOST_INSIDE) open.push(inner[inside]);
      }
    }
  }
  return false;
}
